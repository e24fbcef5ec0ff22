package limits_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

func client(t testing.TB) *redis.Client {
	t.Helper()
	c, err := redisconn.Open(testenv.Require(t, testenv.RedisURL), telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// limiter makes a limiter with a long budget, because a busy machine is not an outage.
func limiter(t testing.TB, c *redis.Client, p limits.Policy) *limits.Limiter {
	t.Helper()
	return newLimiter(t, limits.Deps{Redis: c}, limits.Config{Policy: p, RedisBudget: 20 * time.Second})
}

func newLimiter(t testing.TB, deps limits.Deps, cfg limits.Config) *limits.Limiter {
	t.Helper()
	if deps.Meter == nil {
		deps.Meter = noop.Meter{}
	}
	if deps.Clock == nil {
		deps.Clock = time.Now
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	l, err := limits.New(deps, cfg)
	require.NoError(t, err)
	return l
}

func TestSeveralGatewaysNeverAcceptMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	policy := limits.Policy{Name: "default", Limit: 30, Window: time.Minute}
	tenant := uuid.NewString()
	gateways := []*limits.Limiter{limiter(t, client(t), policy), limiter(t, client(t), policy)}
	var accepted atomic.Int32
	var group errgroup.Group
	for i := range 100 {
		group.Go(func() error {
			if v, _ := gateways[i%2].TakeKey(t.Context(), tenant, 1); v.Allowed {
				accepted.Add(1)
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, policy.Limit, accepted.Load())

	refused, _ := gateways[0].TakeKey(t.Context(), tenant, 1)
	require.False(t, refused.Allowed)
	require.Greater(t, refused.Reset, 50*time.Second)
	other, _ := gateways[0].TakeKey(t.Context(), tenant, 2)
	require.True(t, other.Allowed)
	require.Equal(t, policy.Limit-1, other.Remaining)
}

func TestTheTenantVersionComesInTheSameRoundTrip(t *testing.T) {
	t.Parallel()
	c := client(t)
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	_, version := l.TakeKey(t.Context(), tenant, 1)
	require.Zero(t, version)
	require.NoError(t, c.Set(t.Context(), "gifting:tenant-version:{"+tenant+"}", 7, time.Minute).Err())
	_, version = l.TakeKey(t.Context(), tenant, 1)
	require.EqualValues(t, 7, version)
	require.NoError(t, c.Set(t.Context(), "gifting:tenant-version:{"+tenant+"}", "seven", time.Minute).Err())
	v, version := l.TakeKey(t.Context(), tenant, 1)
	require.True(t, v.Allowed)
	require.Zero(t, version)
}

func TestWithoutRedisEachInstanceLimits(t *testing.T) {
	t.Parallel()
	// It accepts connections and never responds, like a Redis that hangs.
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	c, err := redisconn.Open("redis://"+listener.Addr().String(), telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	const requests, budget = 200, 50 * time.Millisecond
	l := newLimiter(t, limits.Deps{Redis: c}, limits.Config{Policy: limits.Policy{Limit: 5, Window: time.Minute}, RedisBudget: budget})
	tenant := uuid.NewString()
	accepted := 0
	began := time.Now()
	for range requests {
		if v, version := l.TakeKey(t.Context(), tenant, 1); v.Allowed {
			require.Zero(t, version)
			accepted++
		}
	}
	require.Equal(t, 5, accepted)
	require.Less(t, time.Since(began), requests*budget/2, "only the first few requests wait for Redis")
}

// wire is a proxy between a limiter and Redis. Everything passes after a delay. While it is cut, nothing passes and nothing is
// closed.
type wire struct {
	cut   atomic.Bool
	delay atomic.Int64
}

func (w *wire) client(t *testing.T) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(testenv.Require(t, testenv.RedisURL))
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go w.serve(t.Context(), listener, opts.Addr)
	c, err := redisconn.Open("redis://"+listener.Addr().String(), telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *wire) serve(ctx context.Context, listener net.Listener, addr string) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			_ = near.Close()
			continue
		}
		go w.pass(near, far)
		go w.pass(far, near)
	}
}

func (w *wire) pass(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		<-time.After(time.Duration(w.delay.Load()))
		if w.cut.Load() {
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestTheLimiterReturnsToRedisAfterAnOutage(t *testing.T) {
	t.Parallel()
	var w wire
	var now atomic.Int64
	now.Store(time.Now().UnixNano())
	tel := telemetrytest.New()
	tenant := uuid.NewString()
	c := client(t)
	var log bytes.Buffer
	l := newLimiter(t, limits.Deps{
		Redis: w.client(t), Meter: tel.Meters.Meter("test"), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Clock: func() time.Time { return time.Unix(0, now.Load()) },
	}, limits.Config{Policy: limits.Policy{Name: "key", Limit: 100, Window: time.Minute}, RedisBudget: 500 * time.Millisecond})
	counted := func() int64 {
		n, err := c.LLen(t.Context(), "gifting:requests:{"+tenant+"}:1").Result()
		require.NoError(t, err)
		return n
	}
	take := func() limits.Verdict { v, _ := l.TakeKey(t.Context(), tenant, 1); return v }
	require.True(t, take().Allowed)
	require.EqualValues(t, 1, counted())

	w.cut.Store(true)
	for range 10 {
		require.True(t, take().Allowed, "the limit of this process applies")
	}
	require.Equal(t, map[string]float64{"cause=slow,limiter=key": 3, "cause=paused,limiter=key": 7, "cause=failed,limiter=key": 0},
		tel.Values(t, "gifting.gateway.limiter.fallback"))
	require.Equal(t, 1, strings.Count(log.String(), "counts requests alone"))
	require.EqualValues(t, 1, counted())

	w.cut.Store(false)
	require.Eventually(t, func() bool {
		now.Add(int64(time.Second)) // The pause after an outage ends.
		require.True(t, take().Allowed)
		return counted() == 2
	}, 30*time.Second, 200*time.Millisecond, "Redis counts again")
	require.Contains(t, log.String(), "Redis answers in time again")
}

func TestTheRateOfARequestIsNeverOverInZeroSeconds(t *testing.T) {
	t.Parallel()
	for reset, want := range map[time.Duration]string{1: "1", 999 * time.Millisecond: "1", time.Second: "1", time.Second + 1: "2"} {
		header := http.Header{}
		limits.Policy{Name: "key", Limit: 3, Window: time.Minute}.WriteHeaders(header, limits.Verdict{Remaining: 2, Reset: reset})
		require.Equal(t, `"key";r=2;t=`+want, header.Get("RateLimit"))
		require.Equal(t, `"key";q=3;w=60`, header.Get("RateLimit-Policy"))
	}
}
