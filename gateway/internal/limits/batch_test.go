package limits_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
)

// hook counts the round trips to Redis, and the runs of the script outside of a batch. The first held
// batches wait until open is closed.
type hook struct {
	batches, single atomic.Int64
	held            int64
	open            chan struct{}

	mu   sync.Mutex
	runs []scriptRun
}

func newHook(held int64) *hook { return &hook{held: held, open: make(chan struct{})} }

func (h *hook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			h.single.Add(1)
		}
		return next(ctx, cmd)
	}
}

func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if h.batches.Add(1) <= h.held {
			<-h.open
		}
		h.mu.Lock()
		for _, cmd := range cmds {
			if run, ok := runOf(cmd.Args()); ok {
				h.runs = append(h.runs, run)
			}
		}
		h.mu.Unlock()
		return next(ctx, cmds)
	}
}

func TestRequestsShareRoundTrips(t *testing.T) {
	t.Parallel()
	c, h := client(t), newHook(0)
	c.AddHook(h)
	l := limiter(t, c, limits.Policy{Limit: 1000, Window: time.Minute})
	const requests = 500
	tenant := uuid.NewString()
	var group errgroup.Group
	var left [requests + 1000]atomic.Int64
	for range requests {
		group.Go(func() error {
			v, _ := l.TakeKey(t.Context(), tenant, 1)
			left[v.Remaining].Add(1)
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.Less(t, h.batches.Load(), int64(requests))
	for n := 1000 - requests; n < 1000; n++ {
		require.EqualValues(t, 1, left[n].Load(), "each request has its own answer")
	}
}

func TestACancelledRequestDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	c, h := client(t), newHook(1)
	c.AddHook(h)
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	gone, leave := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error { l.TakeKey(gone, tenant, 1); return nil })
	require.Eventually(t, func() bool { return h.batches.Load() == 1 }, 5*time.Second, time.Millisecond)
	leave()
	require.NoError(t, group.Wait(), "it does not wait for the batch")

	other, _ := l.TakeKey(t.Context(), tenant, 2)
	require.True(t, other.Allowed)
	require.Equal(t, 9, other.Remaining)
	close(h.open)
	require.Eventually(t, func() bool {
		n, err := c.LLen(t.Context(), "gifting:requests:{"+tenant+"}:1").Result()
		return err == nil && n == 1
	}, 5*time.Second, time.Millisecond, "it was in flight and is counted")
}

func TestARestartedRedisGetsTheScriptAgain(t *testing.T) {
	t.Parallel()
	c := client(t)
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	for n := 9; n > 6; n-- {
		require.NoError(t, c.ScriptFlush(t.Context()).Err(), "as after a restart of Redis")
		v, _ := l.TakeKey(t.Context(), tenant, 1)
		require.Equal(t, n, v.Remaining)
	}
	counted, err := c.LLen(t.Context(), "gifting:requests:{"+tenant+"}:1").Result()
	require.NoError(t, err)
	require.EqualValues(t, 3, counted)
}

func TestRequestsShareRoundTripsWithARestartedRedisToo(t *testing.T) {
	t.Parallel()
	c, h := client(t), newHook(1)
	c.AddHook(h)
	l := limiter(t, c, limits.Policy{Limit: 1000, Window: time.Minute})
	tenant := uuid.NewString()
	var group errgroup.Group
	var allowed atomic.Int64
	ask := func() error {
		if v, _ := l.TakeKey(t.Context(), tenant, 1); v.Allowed {
			allowed.Add(1)
		}
		return nil
	}
	group.Go(ask)
	require.Eventually(t, func() bool { return h.batches.Load() == 1 }, 5*time.Second, time.Millisecond)
	require.NoError(t, c.ScriptFlush(t.Context()).Err())
	for range 100 {
		group.Go(ask)
	}
	close(h.open)
	require.NoError(t, group.Wait())
	require.EqualValues(t, 101, allowed.Load())
	require.Zero(t, h.single.Load())
}
