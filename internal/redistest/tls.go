// This file owns the certificates of a test: an authority of its own, what it
// signs, and how a server that has some is reached.

package redistest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs the certificates of a test.
type Authority struct {
	CAFile string

	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// NewAuthority makes an authority with its certificate in a file.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{CAFile: filepath.Join(t.TempDir(), "ca.pem")}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.certificate = template // its own issuer
	var der []byte
	der, a.key = a.sign(t, template, nil)
	var err error
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatalf("redistest: the authority: %v", err)
	}
	writePEM(t, a.CAFile, "CERTIFICATE", der)
	return a
}

// Issue writes a new certificate for names, host names or addresses, and its key,
// over what is in the files. It is good for a server and for a client.
func (a *Authority) Issue(t testing.TB, certFile, keyFile string, names ...string) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, key := a.sign(t, template, a.key)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("redistest: a key: %v", err)
	}
	writePEM(t, certFile, "CERTIFICATE", der)
	writePEM(t, keyFile, "PRIVATE KEY", encoded)
}

// ServerArgs are the arguments of a server that speaks TLS and nothing else, to
// clients with a certificate of the authority, to replicas and in its Cluster. Its
// certificate is for names.
func (a *Authority) ServerArgs(t testing.TB, names ...string) []string {
	t.Helper()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	a.Issue(t, cert, key, names...)
	return []string{
		tlsCertOption, cert, "--tls-key-file", key, "--tls-ca-cert-file", a.CAFile,
		"--tls-auth-clients", "yes", "--tls-replication", "yes", "--tls-cluster", "yes",
	}
}

// sign signs a template, by its own new key where there is no other.
func (a *Authority) sign(t testing.TB, template *x509.Certificate, by *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("redistest: a key: %v", err)
	}
	if by == nil {
		by = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), by)
	if err != nil {
		t.Fatalf("redistest: a certificate: %v", err)
	}
	return der, key
}

func serial(t testing.TB) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func writePEM(t testing.TB, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tlsCertOption makes a server one that speaks TLS and nothing else.
const tlsCertOption = "--tls-cert-file"

// clientTLS is how a server is reached, by its own certificate; nil: without TLS.
func (s *Server) clientTLS() *tls.Config {
	cert := option(s.args, tlsCertOption)
	if cert == "" {
		return nil
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), InsecureSkipVerify: true} // its name is not what a test's own client is to judge
	if pair, err := tls.LoadX509KeyPair(cert, option(s.args, "--tls-key-file")); err == nil {
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// RequireTLS skips the test, and says so, where a server was built without TLS.
// redis-server from the PATH must have it where a missing program is a failure.
func RequireTLS(t testing.TB, binary string) {
	t.Helper()
	program, err := os.ReadFile(Require(t, binary))
	if err != nil || bytes.Contains(program, []byte("SSL_CTX_")) { // it calls the library
		return
	}
	onPath, err := exec.LookPath(defaultServer)
	for _, name := range []string{"CI", requireEnv} {
		if os.Getenv(name) != "" && err == nil && binary == onPath {
			t.Fatalf("%s was built without TLS, and %s forbids to skip the test", binary, name)
		}
	}
	t.Skipf("NOT TESTED: %s was built without TLS", binary)
}
