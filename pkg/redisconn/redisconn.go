// Package redisconn opens Redis for callers that continue without it when it does not answer in time.
package redisconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Open makes a client whose calls end with their context and are not retried. It measures the client's connections and, with
// tracing, makes spans of its commands: by name, without keys and values, and only inside a recorded span. The error of a bad URL
// does not repeat the URL, which may hold a password.
func Open(address string, tel *telemetry.Telemetry) (*redis.Client, error) {
	opts, err := parse(address)
	if err != nil {
		return nil, err
	}
	opts.MaxRetries = -1
	opts.DialerRetries = 1
	opts.ContextTimeoutEnabled = true
	opts.PipelinePoolSize = -1 // Pipelines use the pool that observe measures.
	// NewClient would look the host up, which takes many seconds when DNS is down.
	opts.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	client := redis.NewClient(opts)
	if err := observe(client, tel); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// errURL does not wrap the cause, which quotes parts of the URL.
var errURL = errors.New("is no URL of Redis such as rediss://:password@host:6379/0; " +
	"in a password / is written as %2F, and # as %23")

func parse(address string) (*redis.Options, error) {
	opts, err := redis.ParseURL(address)
	if err != nil {
		return nil, errURL
	}
	return opts, nil
}

// Check refuses an address that Open would refuse. An empty one is valid.
func Check(address string) error {
	if address == "" {
		return nil
	}
	_, err := parse(address)
	return err
}

func observe(client *redis.Client, tel *telemetry.Telemetry) error {
	err := telemetry.Pool(tel.Meters, "redis", "redis", func(context.Context) telemetry.PoolState {
		s := client.PoolStats()
		return telemetry.PoolState{
			Used: int64(s.TotalConns) - int64(s.IdleConns), Idle: int64(s.IdleConns),
			Max: int64(client.Options().PoolSize), Waits: int64(s.WaitCount), Waited: time.Duration(s.WaitDurationNs),
		}
	})
	if err != nil {
		return fmt.Errorf("metrics of redis: %w", err)
	}
	if tel.Tracing {
		client.AddHook(hook{})
	}
	return nil
}

// OnNewServer calls f when the client has made a connection, unless it is to the same process as the one before, with the same
// history of replication. Another server, or one that does not say what it is, may have been set back. It must be called before the
// client is used.
func OnNewServer(client *redis.Client, f func()) {
	var mu sync.Mutex
	var known string
	client.Options().OnConnect = func(ctx context.Context, conn *redis.Conn) error {
		info, err := conn.Info(ctx).Result()
		if refused := redis.Error(nil); err != nil && !errors.As(err, &refused) {
			return err // The response may come later.
		}
		now := identity(info)
		mu.Lock()
		same := now != "" && now == known
		known = now
		mu.Unlock()
		if !same {
			f()
		}
		return nil
	}
}

// identity returns what Redis calls the process of the server and its history, or nothing if it does not say both.
func identity(info string) string {
	var process, history string
	for line := range strings.Lines(info) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name {
		case "run_id":
			process = value
		case "master_replid":
			history = value
		}
	}
	if process == "" || history == "" {
		return ""
	}
	return process + " " + history
}

// hook implements redis.Hook.
type hook struct{}

// DialHook implements redis.Hook.
func (hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !trace.SpanFromContext(ctx).IsRecording() {
			return next(ctx, cmd) // Without an upper-case name, which is made for each command.
		}
		ctx, span := startSpan(ctx, strings.ToUpper(cmd.FullName()))
		err := next(ctx, cmd)
		endSpan(span, err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		ctx, span := startSpan(ctx, "PIPELINE", semconv.DBOperationBatchSize(len(cmds)))
		err := next(ctx, cmds)
		endSpan(span, err)
		return err
	}
}

// startSpan begins a span inside the recorded span of ctx; outside of one it returns a nil span.
func startSpan(ctx context.Context, operation string, more ...attribute.KeyValue) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	//nolint:spancheck // endSpan ends it.
	return parent.TracerProvider().Tracer("github.com/partnergifting/platform/pkg/redisconn").Start(ctx, operation,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(semconv.DBSystemNameRedis, semconv.DBOperationName(operation)),
		trace.WithAttributes(more...))
}

// endSpan ends a span with the outcome of the operation.
func endSpan(span trace.Span, err error) {
	if span == nil {
		return
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		span.SetAttributes(semconv.ErrorTypeKey.String(kind(err)))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// kind names an error without the server's message, which may repeat a key.
func kind(err error) string {
	switch {
	case redis.HasErrorPrefix(err, "NOSCRIPT"):
		return "NOSCRIPT"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	default:
		return semconv.ErrorTypeOther.Value.AsString()
	}
}
