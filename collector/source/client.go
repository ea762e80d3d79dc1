// A client for who sends other commands than a sweep does, such as the limiter's
// self-test. Where it goes and as whom is what a sweep does.

package source

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"keyhealth/collector/spec"
)

// mostConnections is how many a client opens to a node.
const mostConnections = 10

// Client sends any command to a target.
type Client = redis.UniversalClient

// NewClient returns a client that writes to the target: to the server, to the
// one that the Sentinels call primary now, or to the primaries of the Cluster.
// It asks the target which of them it is. What it sends is counted in sent.
// Whoever has the client closes it.
func NewClient(ctx context.Context, target spec.Target, sent *CommandCounts) (Client, error) {
	t := NewTopology(target, func(e spec.Endpoint, name string) Node { return NewServer(e, name, sent) })
	if err := t.followIfCluster(ctx); err != nil {
		return nil, err
	}
	shards, err := t.Shards(ctx)
	if err != nil {
		return nil, err
	}
	endpoint, addresses, db := target.Endpoint, t.known, 0
	if !t.cluster {
		endpoint = shards[0].Primary.(*Server).endpoint
		addresses = []string{endpoint.Address}
		if len(target.Databases) > 0 {
			db = target.Databases[0]
		}
	}
	client := clientOf(t.cluster, &redis.UniversalOptions{
		Addrs:                 addresses,
		DB:                    db,
		Dialer:                dialerOf(endpoint),
		Protocol:              2,
		MaxRetries:            -1, // a second try of a call that was lost would be counted twice
		DialerRetries:         1,
		DialTimeout:           endpoint.Timeout,
		ReadTimeout:           endpoint.Timeout,
		WriteTimeout:          endpoint.Timeout,
		PoolTimeout:           time.Minute, // many callers share the connections
		ContextTimeoutEnabled: true,
		PoolSize:              mostConnections,
		DisableIdentity:       true,
		OnConnect:             setName,
		CredentialsProviderContext: func(context.Context) (string, string, error) {
			password, err := passwordOf(endpoint)
			return endpoint.Username, password, err
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	client.AddHook(sentHook{sent})
	return client, nil
}

func clientOf(cluster bool, o *redis.UniversalOptions) redis.UniversalClient {
	if !cluster {
		return redis.NewClient(o.Simple())
	}
	own := o.Cluster()
	own.DisableRoutingPolicies = true // they are asked for with COMMAND, before every command where that is refused
	return redis.NewClusterClient(own)
}

// followIfCluster finds out whether the address is a node of a Cluster, where
// nobody has said.
func (t *Topology) followIfCluster(ctx context.Context) error {
	if t.target.Cluster != spec.ClusterAuto || t.target.Sentinel != nil || t.target.Endpoint.Network == "unix" {
		return nil
	}
	var failed error
	for _, address := range t.seeds() {
		info, err := t.infoOf(ctx, address)
		if err == nil || Denies(err) {
			if info.Mode() == "cluster" {
				t.Follow()
			}
			return nil
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

func (t *Topology) infoOf(ctx context.Context, address string) (Info, error) {
	c, err := t.node(address, address, "").Connect(ctx)
	if err != nil {
		return Info{}, err
	}
	defer c.Close()
	return c.Info(ctx)
}

// dialerOf dials the endpoint, or another node of its Cluster in the same way.
func dialerOf(e spec.Endpoint) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		at := e
		if address != e.Address {
			at.Network, at.Address = "tcp", address
		}
		return (&cuttingDialer{ctx: context.WithoutCancel(ctx), endpoint: at}).dial(ctx, at.Network, address)
	}
}

// FailureOf gives an error of such a client its reason, and takes all out of it
// that the server sent.
func FailureOf(err error) error { return failureOf(err) }
