package limits_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

// wire is a proxy between a limiter and Redis. While it is cut, nothing passes and nothing is closed.
type wire struct{ cut atomic.Bool }

func (w *wire) client(t *testing.T) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(testenv.Require(t, testenv.RedisURL))
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go w.serve(t.Context(), listener, opts.Addr)
	c, err := redisconn.Open("redis://" + listener.Addr().String())
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
	l := newLimiter(t, limits.Deps{
		Redis: w.client(t), Meter: tel.Meters.Meter("test"), Clock: func() time.Time { return time.Unix(0, now.Load()) },
	}, limits.Config{Policy: limits.Policy{Name: "key", Limit: 100, Window: time.Minute}, RedisBudget: 200 * time.Millisecond})
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
	require.Equal(t, map[string]float64{"limiter=key": 10}, tel.Values(t, "gifting.gateway.limiter.fallback"))
	require.EqualValues(t, 1, counted())

	w.cut.Store(false)
	require.Eventually(t, func() bool {
		now.Add(int64(time.Second)) // The pause after an outage ends.
		before := counted()
		take()
		return counted() == before+1
	}, 10*time.Second, time.Millisecond)
}

func TestAKeyThatHasUsedUpItsRequestsStaysLimitedWithoutRedis(t *testing.T) {
	t.Parallel()
	var w wire
	policy := limits.Policy{Name: "key", Limit: 10, Window: time.Minute}
	tenant := uuid.NewString()
	other := limiter(t, client(t), policy)
	for range policy.Limit {
		v, _ := other.TakeKey(t.Context(), tenant, 1)
		require.True(t, v.Allowed)
	}
	l := newLimiter(t, limits.Deps{Redis: w.client(t)}, limits.Config{Policy: policy, RedisBudget: 200 * time.Millisecond})
	refused, _ := l.TakeKey(t.Context(), tenant, 1)
	require.False(t, refused.Allowed)
	w.cut.Store(true)
	for range 5 {
		still, _ := l.TakeKey(t.Context(), tenant, 1)
		require.False(t, still.Allowed)
		require.Greater(t, still.Reset, 30*time.Second)
	}
}
