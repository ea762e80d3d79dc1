package exportertest

import (
	"crypto/tls"
	"path/filepath"
	"testing"

	"keyhealth/internal/redistest"
)

// oldServer is a server that speaks TLS 1.1 at most: a Redis where its library
// still does that, else a listener that does the handshake and no more.
func oldServer(t *testing.T, a *redistest.Authority) (address, kind string) {
	t.Helper()
	// A client with the certificate of the server is let in by both.
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	a.Issue(t, cert, key, "127.0.0.1")
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	server := redistest.Start(t, append(a.ServerArgs(t, "127.0.0.1"), "--tls-ciphers", "DEFAULT:@SECLEVEL=0")...)
	if err := server.Client(t).ConfigSet(t.Context(), "tls-protocols", "TLSv1.1").Err(); err == nil && speaksOld(server.Addr(), pair) == nil {
		return server.Addr(), "Redis"
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}) //nolint:gosec // that is what it is for
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = listener.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	if err := speaksOld(listener.Addr().String(), pair); err != nil {
		t.Fatalf("nothing here speaks TLS 1.1: %v", err)
	}
	return listener.Addr().String(), "a listener"
}

// speaksOld is a handshake of TLS 1.1.
func speaksOld(address string, pair tls.Certificate) error {
	conn, err := tls.Dial("tcp", address, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11, InsecureSkipVerify: true}) //nolint:gosec // that is what it is for
	if err != nil {
		return err
	}
	return conn.Close()
}

// TestTLSFloor: a server that speaks nothing newer than TLS 1.1 is refused.
func TestTLSFloor(t *testing.T) {
	redistest.RequireTLS(t, redistest.Require(t, "redis-server"))
	authority := redistest.NewAuthority(t)
	address, kind := oldServer(t, authority)
	s, settings := files(t, authority)
	settings["REDIS_URL"] = "rediss://" + address
	s.Exporter = Start(t, settings)
	s.fails(t, "protocol version")
	t.Logf("refused: %s", kind)
}
