// One Redis server over the wire: the connection of a sweep, most of the commands
// it sends, and how all are counted. Those that ask what keys hold are contents.go,
// those about other servers members.go; who sends other commands has client.go.

package source

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

	"keyhealth/collector/spec"
)

// Server is a server at a fixed address; it implements Node.
type Server struct {
	endpoint spec.Endpoint
	label    string // its name
	sent     *CommandCounts
}

// NewServer is the server at an endpoint, by its name; what it is sent is counted
// in sent.
func NewServer(endpoint spec.Endpoint, name string, sent *CommandCounts) *Server {
	redis.SetLogger(silent{}) // its lines hold addresses and server texts, and have no level
	return &Server{endpoint: endpoint, label: name, sent: sent}
}

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Name implements Node.
func (r *Server) Name() string { return r.label }

// Connect opens the one dedicated connection of a sweep. When ctx ends its
// socket is closed, which ends a blocked read at once: go-redis would not.
func (r *Server) Connect(ctx context.Context) (Conn, error) {
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
			password, err := passwordOf(r.endpoint)
			return r.endpoint.Username, password, err
		},
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	client.AddHook(sentHook{r.sent})
	c := &redisConn{client: client, wire: client.Conn(), dialer: dialer}
	c.stop = context.AfterFunc(ctx, dialer.cut)
	if err := pong(c.wire.Ping(ctx).Err()); err != nil && !Denies(err) && !PassesBy(err) {
		c.Close()
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

func passwordOf(e spec.Endpoint) (string, error) {
	if e.Password != "" || e.PasswordFile == "" {
		return e.Password, nil
	}
	content, err := os.ReadFile(e.PasswordFile)
	if err != nil {
		return "", &Failure{Reason: ReasonAuth, Err: errors.New("the password file cannot be read")}
	}
	return strings.TrimRight(string(content), "\r\n"), nil
}

// redisConn implements Conn.
type redisConn struct {
	wire   *redis.Conn
	client *redis.Client
	dialer *cuttingDialer
	stop   func() bool
}

func (c *redisConn) Close() {
	c.stop()
	_ = c.wire.Close()
	_ = c.client.Close()
	c.dialer.cut()
}

func (c *redisConn) Ping(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	err := c.wire.Ping(ctx).Err()
	return time.Since(start), pong(err)
}

// pong is what came of a PING. A server that cannot save its data refuses it along
// with the writes (processCommand in server.c) and answers everything else.
func pong(err error) error {
	if reply := redis.Error(nil); errors.As(err, &reply) && strings.HasPrefix(reply.Error(), "MISCONF") {
		return nil
	}
	return failureOf(err)
}

func (c *redisConn) Now(ctx context.Context) (time.Time, error) {
	now, err := c.wire.Time(ctx).Result()
	return now, failureOf(err)
}

// Info asks for every section; a server that knows no "all" is asked for what
// it has.
func (c *redisConn) Info(ctx context.Context) (Info, error) {
	text, err := c.wire.Info(ctx, "all").Result()
	if failure := (*Failure)(nil); errors.As(failureOf(err), &failure) && failure.Reason == ReasonRefused {
		text, err = c.wire.Info(ctx).Result()
	}
	return ParseInfo(text), failureOf(err)
}

func (c *redisConn) Select(ctx context.Context, db int) error {
	return failureOf(c.wire.Select(ctx, db).Err())
}

func (c *redisConn) Scan(ctx context.Context, cursors []uint64, count int) ([]Page, error) {
	pipe := c.wire.Pipeline()
	commands := make([]*redis.ScanCmd, len(cursors))
	for i, cursor := range cursors {
		commands[i] = pipe.Scan(ctx, cursor, "", int64(count))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failureOf(err)
	}
	pages := make([]Page, len(commands))
	for i, command := range commands {
		pages[i].Names, pages[i].Next = command.Val()
	}
	return pages, nil
}

// TTLs answers milliseconds, or one of the ttl constants, a name.
func (c *redisConn) TTLs(ctx context.Context, names []string) ([]int64, error) {
	return c.numbers(ctx, names, "pttl")
}

// Memory answers bytes, TTLGone or TTLRefused a name.
func (c *redisConn) Memory(ctx context.Context, names []string) ([]int64, error) {
	return c.numbers(ctx, names, "memory", "usage")
}

func (c *redisConn) ClusterNodes(ctx context.Context) (string, error) {
	text, err := c.wire.ClusterNodes(ctx).Result()
	return text, failureOf(err)
}

func (c *redisConn) SlotCounts(ctx context.Context, slots []int) ([]int64, error) {
	pipe := c.wire.Pipeline()
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
// keeps from us answers TTLRefused, a key that is gone TTLGone.
func (c *redisConn) numbers(ctx context.Context, names []string, command ...any) ([]int64, error) {
	pipe := c.wire.Pipeline()
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
		case err == nil && answer < TTLGone:
			return nil, &Failure{Reason: ReasonOther, Err: errors.New("a number was answered that there is not")}
		case err == nil:
			answers[i] = answer
		case errors.Is(err, redis.Nil), redis.HasErrorPrefix(err, "ASK "): // another node has it, or none
			answers[i] = TTLGone
		case errors.As(failureOf(err), &failure) && failure.key:
			answers[i] = TTLRefused
		default:
			return nil, failureOf(err)
		}
	}
	return answers, nil
}

// sentHook counts what is sent.
type sentHook struct{ *CommandCounts }

func (c sentHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c sentHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.Add(cmd.Name(), 1)
		err := next(ctx, cmd)
		// After a refused HELLO the client library goes on, and would report the lost
		// connection and not the refusal. It takes the outermost error off.
		if reply := redis.Error(nil); errors.As(err, &reply) && closes(reply.Error()) {
			return fmt.Errorf("%s: %w", cmd.Name(), Refusal(reply.Error()))
		}
		return err
	}
}

func (c sentHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			c.Add(cmd.Name(), 1)
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
		return Refusal(reply.Error())
	}
	return brokenLink(err)
}
