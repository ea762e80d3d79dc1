// One Redis server over the wire: the only file that sends commands. What may
// be sent is listed in docs/permissions.md. It decides nothing about keys.

package collector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// redisServer is a server at a fixed address; it implements node.
type redisServer struct {
	endpoint Endpoint
	label    string // its name
	sent     *commandCounts
}

func newRedisServer(endpoint Endpoint, name string, sent *commandCounts) *redisServer {
	redis.SetLogger(silent{}) // its lines hold addresses and server texts, and have no level
	return &redisServer{endpoint: endpoint, label: name, sent: sent}
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func (r *redisServer) name() string { return r.label }

// connect opens the one dedicated connection of a sweep. When ctx ends its
// socket is closed, which ends a blocked read at once: go-redis would not.
func (r *redisServer) connect(ctx context.Context) (conn, error) {
	dialer := &cuttingDialer{ctx: ctx, endpoint: r.endpoint}
	client := redis.NewClient(&redis.Options{
		Network:               r.endpoint.Network,
		Addr:                  r.endpoint.Address,
		Dialer:                dialer.dial,
		Protocol:              2,
		MaxRetries:            -1, // the sweep decides
		DialerRetries:         1,
		DialTimeout:           r.endpoint.Timeout,
		ReadTimeout:           r.endpoint.Timeout,
		WriteTimeout:          r.endpoint.Timeout,
		ContextTimeoutEnabled: true,
		PoolSize:              8, // one is used; go-redis dials on by itself once as many dials have failed
		DisableIdentity:       true,
		OnConnect:             setName,
		CredentialsProviderContext: func(context.Context) (string, string, error) {
			password, err := r.endpoint.password()
			return r.endpoint.Username, password, err
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	client.AddHook(sentHook{r.sent})
	c := &redisConn{client: client, Conn: client.Conn(), dialer: dialer}
	c.stop = context.AfterFunc(ctx, dialer.cut)
	if err := failureOf(c.Ping(ctx).Err()); err != nil && !denies(err) && !passes(err) {
		c.close()
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return c, nil
}

// setName makes the connection recognizable in CLIENT LIST; a server or an ACL
// that refuses the name refuses nothing we need.
func setName(ctx context.Context, c *redis.Conn) error {
	err := c.ClientSetName(ctx, "keyhealth").Err()
	if serverError := redis.Error(nil); errors.As(err, &serverError) {
		return nil
	}
	return err
}

func (e Endpoint) password() (string, error) {
	if e.Password != "" || e.PasswordFile == "" {
		return e.Password, nil
	}
	content, err := os.ReadFile(e.PasswordFile)
	if err != nil {
		return "", &Failure{Reason: ReasonAuth, Err: errors.New("the password file cannot be read")}
	}
	return strings.TrimRight(string(content), "\r\n"), nil
}

// redisConn implements conn.
type redisConn struct {
	*redis.Conn
	client *redis.Client
	dialer *cuttingDialer
	stop   func() bool
}

func (c *redisConn) close() {
	c.stop()
	_ = c.Conn.Close()
	_ = c.client.Close()
	c.dialer.cut()
}

func (c *redisConn) ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := c.Ping(ctx).Err()
	return time.Since(start), failureOf(err)
}

func (c *redisConn) now(ctx context.Context) (time.Time, error) {
	now, err := c.Time(ctx).Result()
	return now, failureOf(err)
}

// info asks for every section; a server that knows no "all" is asked for what
// it has.
func (c *redisConn) info(ctx context.Context) (Info, error) {
	text, err := c.Info(ctx, "all").Result()
	if failure := (*Failure)(nil); errors.As(failureOf(err), &failure) && failure.Reason == ReasonRefused {
		text, err = c.Info(ctx).Result()
	}
	return ParseInfo(text), failureOf(err)
}

func (c *redisConn) selectDB(ctx context.Context, db int) error {
	return failureOf(c.Select(ctx, db).Err())
}

func (c *redisConn) scan(ctx context.Context, cursors []uint64, count int) ([]page, error) {
	pipe := c.Pipeline()
	commands := make([]*redis.ScanCmd, len(cursors))
	for i, cursor := range cursors {
		commands[i] = pipe.Scan(ctx, cursor, "", int64(count))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failureOf(err)
	}
	pages := make([]page, len(commands))
	for i, command := range commands {
		pages[i].names, pages[i].next = command.Val()
	}
	return pages, nil
}

// ttls answers milliseconds, or one of the ttl constants, a name.
func (c *redisConn) ttls(ctx context.Context, names []string) ([]int64, error) {
	return c.numbers(ctx, names, "pttl")
}

// memory answers bytes, ttlGone or ttlRefused a name.
func (c *redisConn) memory(ctx context.Context, names []string) ([]int64, error) {
	return c.numbers(ctx, names, "memory", "usage")
}

func (c *redisConn) clusterNodes(ctx context.Context) (string, error) {
	text, err := c.ClusterNodes(ctx).Result()
	return text, failureOf(err)
}

func (c *redisConn) slotCounts(ctx context.Context, slots []int) ([]int64, error) {
	pipe := c.Pipeline()
	commands := make([]*redis.IntCmd, len(slots))
	for i, slot := range slots {
		commands[i] = pipe.ClusterCountKeysInSlot(ctx, slot)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failureOf(err)
	}
	counts := make([]int64, len(commands))
	for i, command := range commands {
		counts[i] = command.Val()
	}
	return counts, nil
}

// numbers sends one command a name in one write. A name that the server's ACL
// keeps from us answers ttlRefused, a key that is gone ttlGone.
func (c *redisConn) numbers(ctx context.Context, names []string, command ...any) ([]int64, error) {
	pipe := c.Pipeline()
	commands := make([]*redis.IntCmd, len(names))
	for i, name := range names {
		commands[i] = redis.NewIntCmd(ctx, append(slices.Clip(command), name)...)
		_ = pipe.Process(ctx, commands[i])
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	c.askAgain(ctx, commands)
	answers := make([]int64, len(names))
	for i, command := range commands {
		answer, err := command.Result()
		failure := (*Failure)(nil)
		switch {
		case err == nil && answer < ttlGone:
			return nil, &Failure{Reason: ReasonOther, Err: errors.New("a number was answered that there is not")}
		case err == nil:
			answers[i] = answer
		case errors.Is(err, redis.Nil), redis.HasErrorPrefix(err, "ASK "): // another node has it, or none
			answers[i] = ttlGone
		case errors.As(failureOf(err), &failure) && failure.key:
			answers[i] = ttlRefused
		default:
			return nil, failureOf(err)
		}
	}
	return answers, nil
}

// sentHook counts what is sent.
type sentHook struct{ *commandCounts }

func (c sentHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c sentHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.add(cmd.Name(), 1)
		return next(ctx, cmd)
	}
}

func (c sentHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			c.add(cmd.Name(), 1)
		}
		return next(ctx, cmds)
	}
}

// failureOf gives any error of the client library its reason.
func failureOf(err error) error {
	var failure *Failure
	var reply redis.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &reply):
		return refusal(reply.Error())
	}
	return brokenLink(err)
}
