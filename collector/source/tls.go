package source

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"keyhealth/collector/spec"
)

// handshake puts TLS on a fresh connection. The files are read each time, so
// that a renewed certificate needs no restart.
func handshake(ctx context.Context, conn net.Conn, endpoint spec.Endpoint) (net.Conn, error) {
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
