// How a Cluster or a Sentinel names its servers, over the wire. What is made of
// it is topology.go.

package source

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

func (c *redisConn) ReadOnly(ctx context.Context) error {
	return failureOf(c.wire.ReadOnly(ctx).Err())
}

func (c *redisConn) SentinelServers(ctx context.Context, master string) (primary string, replicas []string, err error) {
	address := redis.NewStringSliceCmd(ctx, "sentinel", "get-master-addr-by-name", master)
	err = c.wire.Process(ctx, address)
	switch parts := address.Val(); {
	case errors.Is(err, redis.Nil):
		return "", nil, &Failure{Reason: ReasonRefused, Err: errors.New("the Sentinel knows no set of that name"), Hint: hintNoSet}
	case errors.Is(failureOf(err), errUnknown):
		return "", nil, &Failure{Reason: ReasonRefused, Err: errors.New("what answers is no Sentinel"), Hint: hintNoSentinel}
	case err != nil:
		return "", nil, fmt.Errorf("SENTINEL GET-MASTER-ADDR-BY-NAME: %w", failureOf(err))
	case len(parts) != 2:
		return "", nil, &Failure{Reason: ReasonOther, Err: errors.New("SENTINEL GET-MASTER-ADDR-BY-NAME: no address was answered")}
	default:
		var ok bool
		if primary, ok = dialable(parts[0], parts[1]); !ok {
			return "", nil, &Failure{Reason: ReasonOther, Err: errors.New("SENTINEL GET-MASTER-ADDR-BY-NAME: what was answered is no address")}
		}
	}
	listed := redis.NewMapStringStringSliceCmd(ctx, "sentinel", "replicas", master)
	if err := c.wire.Process(ctx, listed); err != nil {
		return "", nil, fmt.Errorf("SENTINEL REPLICAS: %w", failureOf(err))
	}
	for _, fields := range listed.Val() {
		flags := fields["flags"]
		if address, ok := dialable(fields["ip"], fields["port"]); ok && !strings.Contains(flags, "_down") && !strings.Contains(flags, "disconnected") {
			replicas = append(replicas, address)
		}
	}
	return primary, replicas, nil
}

// askAgain sends commands once more whose key is in a slot that is on its way to
// this node: without ASKING it sends us to the node where the slot still is.
func (c *redisConn) askAgain(ctx context.Context, commands []*redis.IntCmd) {
	pipe := c.wire.Pipeline()
	for _, command := range commands {
		if redis.HasErrorPrefix(command.Err(), "MOVED ") {
			command.SetErr(nil)
			_ = pipe.Process(ctx, redis.NewStatusCmd(ctx, "asking"))
			_ = pipe.Process(ctx, command)
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx)
	}
}
