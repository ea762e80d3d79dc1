package collector

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
)

// handshake puts TLS on a fresh connection. The files are read each time, so
// that a renewed certificate needs no restart.
func handshake(ctx context.Context, conn net.Conn, endpoint Endpoint) (net.Conn, error) {
	config, err := endpoint.TLS.Load(endpoint.Address)
	if err != nil {
		_ = conn.Close()
		return nil, &Failure{Reason: ReasonTLS, Err: err}
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		switch failure := brokenLink(err); failure.Reason {
		case ReasonTimeout:
			return nil, &Failure{Reason: ReasonTLS, Err: errors.New("no answer to the TLS handshake")}
		case ReasonOther:
			return nil, &Failure{Reason: ReasonTLS, Err: err}
		default:
			return nil, failure
		}
	}
	return secured, nil
}

// Load reads the files and builds the client configuration for address.
// Errors name the setting's file, never its content.
func (t *TLS) Load(address string) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.SkipVerify, //nolint:gosec // the user asked for it by name
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, errors.New("the CA file cannot be read")
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("the CA file holds no PEM certificate")
		}
	}
	if t.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, errors.New("the client certificate and its key cannot be read, or do not fit each other")
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}
