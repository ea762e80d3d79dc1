// The cases of failures_test.go in which what was configured is not what is there.

package exportertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"keyhealth/internal/redistest"
)

var wrongFailures = []failure{
	{name: "http_server", begin: func(s *stage) {
		server := httptest.NewServer(http.NotFoundHandler())
		s.Cleanup(server.Close)
		s.settings["REDIS_URL"] = "redis://" + server.Listener.Addr().String()
	}, acts: []act{{name: "a web server answers there", ends: fails}}},
	{name: "tls_to_a_plain_port", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = strings.Replace(s.proxy.URL(), "redis:", "rediss:", 1)
		s.settings["REDIS_TIMEOUT"] = "1s" // the server waits for the end of a line
	}, acts: []act{{name: "rediss:// where no TLS is spoken", ends: fails}}},
	{name: "plain_to_a_tls_port", begin: func(s *stage) {
		secureShop(s, "127.0.0.1")
		s.settings["REDIS_URL"] = strings.Replace(s.settings["REDIS_URL"], "rediss:", "redis:", 1)
	}, acts: []act{{name: "redis:// where TLS is spoken", ends: fails}}},
	{name: "tls_unknown_authority", begin: func(s *stage) { secureShop(s, "127.0.0.1") },
		acts: []act{{name: "the CA is not known", ends: fails}}},
	{name: "tls_wrong_name", begin: func(s *stage) {
		secureShop(s, "127.0.0.2")
		s.settings["REDIS_TLS_CA_FILE"] = s.file
	}, acts: []act{{name: "the certificate is another host's", ends: fails}}},
	{name: "sentinel_unknown_set", begin: func(s *stage) {
		shop()(s)
		sentinel := redistest.StartSentinel(s.T, s.server, 0)
		s.settings["REDIS_URL"] = "redis+sentinel://" + sentinel.Addr() + "/shopp"
	}, acts: []act{{name: "the Sentinel watches no set of that name", ends: fails}}},
	{name: "sentinel_as_server", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = redistest.StartSentinel(s.T, s.server, 0).URL()
	}, acts: []act{{name: "redis:// to a Sentinel", ends: fails}}},
	{name: "server_as_sentinel", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = "redis+sentinel://" + s.server.Addr() + "/shop"
	}, acts: []act{{name: "redis+sentinel:// to a server", ends: fails}}},
	{name: "server_as_cluster", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_CLUSTER"] = "true"
	}, acts: []act{{name: "REDIS_CLUSTER=true and a single server", ends: fails}}},
	{name: "server_as_seeds", begin: func(s *stage) {
		shop()(s)
		s.settings["REDIS_URL"] = s.server.URL() + "," + s.proxy.Addr()
	}, acts: []act{{name: "two addresses of servers that are no Cluster", ends: fails}}},
}

// secureShop starts a server that speaks TLS with a certificate for an address,
// which is its own authority and in s.file.
func secureShop(s *stage, address string) {
	s.Helper()
	dir := s.TempDir()
	certificate, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(s, certificate, key, address)
	port := fmt.Sprint(redistest.FreePort(s.T))
	shop("--tls-port", port, "--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no", "--tls-ca-cert-file", certificate)(s)
	s.settings["REDIS_URL"] = "rediss://127.0.0.1:" + port
	s.file = certificate
}

func writeCertificate(s *stage, certificateFile, keyFile, address string) {
	s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.ParseIP(address)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		s.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certificateFile: {Type: "CERTIFICATE", Bytes: certificate}, keyFile: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			s.Fatal(err)
		}
	}
}
