// What keys hold, over the wire: their type, length, and the value of short
// strings. The rest of the connection is source.go.

package source

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

func (c *redisConn) Types(ctx context.Context, names []string) ([]string, error) {
	pipe := c.wire.Pipeline()
	commands := make([]*redis.StatusCmd, len(names))
	for i, name := range names {
		commands[i] = pipe.Type(ctx, name)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	types := make([]string, len(names))
	for i, command := range commands {
		keyType, err := command.Result()
		if err := ofKey(err); err != nil {
			return nil, err
		}
		types[i] = keyType
	}
	return types, nil
}

func (c *redisConn) Lengths(ctx context.Context, keys []TypedName) ([]int64, error) {
	pipe := c.wire.Pipeline()
	commands := make([]*redis.IntCmd, len(keys))
	for i, k := range keys {
		command, known := lengthCommands[k.Type]
		if !known {
			continue
		}
		commands[i] = redis.NewIntCmd(ctx, command, k.Name)
		_ = pipe.Process(ctx, commands[i])
	}
	_, _ = pipe.Exec(ctx)
	lengths := make([]int64, len(keys))
	for i, command := range commands {
		lengths[i] = TTLGone
		if command == nil {
			continue
		}
		length, err := command.Result()
		if err == nil && length >= 0 {
			lengths[i] = length
		}
		if err := ofKey(err); err != nil {
			return nil, err
		}
	}
	return lengths, nil
}

func (c *redisConn) Strings(ctx context.Context, names []string) ([]StringValue, error) {
	pipe := c.wire.Pipeline()
	commands := make([]*redis.StringCmd, len(names))
	for i, name := range names {
		commands[i] = pipe.Get(ctx, name)
	}
	_, _ = pipe.Exec(ctx)
	values := make([]StringValue, len(names))
	for i, command := range commands {
		text, err := command.Result()
		values[i] = StringValue{text, err == nil}
		if err := ofKey(err); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (c *redisConn) NoTouch(ctx context.Context) error {
	return failureOf(c.wire.Process(ctx, redis.NewStatusCmd(ctx, "client", "no-touch", "on")))
}

// ofKey leaves out the errors that are about one key: it is gone, has become
// something else, is kept from us, or in a slot that moves.
func ofKey(err error) error {
	failure := (*Failure)(nil)
	switch {
	case err == nil, errors.Is(err, redis.Nil), redis.HasErrorPrefix(err, "WRONGTYPE"),
		redis.HasErrorPrefix(err, "MOVED "), redis.HasErrorPrefix(err, "ASK "):
		return nil
	case errors.As(failureOf(err), &failure) && failure.key:
		return nil
	}
	return failureOf(err)
}
