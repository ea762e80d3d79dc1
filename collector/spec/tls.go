package spec

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
)

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
