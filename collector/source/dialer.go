package source

import (
	"context"
	"net"
	"sync"

	"keyhealth/collector/spec"
)

// cuttingDialer dials for one sweep and can cut what it dialled.
type cuttingDialer struct {
	ctx      context.Context
	endpoint spec.Endpoint

	mu   sync.Mutex
	open []net.Conn
}

func (d *cuttingDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: d.endpoint.Timeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.open = append(d.open, conn)
	d.mu.Unlock()
	if d.ctx.Err() != nil { // the cut came in between
		d.cut()
		return nil, d.ctx.Err()
	}
	if d.endpoint.TLS != nil {
		if conn, err = handshake(ctx, conn, d.endpoint); err != nil {
			return nil, err
		}
	}
	return &guardedConn{Conn: conn}, nil
}

func (d *cuttingDialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range d.open {
		_ = conn.Close()
	}
	d.open = nil
}
