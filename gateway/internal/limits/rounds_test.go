package limits_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
)

// trips counts round trips, the first of which waits until it is let go, and those that one request made alone.
type trips struct {
	made, alone atomic.Int64
	first       chan struct{}
}

func (h *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			h.alone.Add(1)
		}
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if h.made.Add(1) == 1 {
			<-h.first
		}
		return next(ctx, cmds)
	}
}

func TestRequestsShareRoundTrips(t *testing.T) {
	c, hook := client(t), &trips{first: make(chan struct{})}
	close(hook.first)
	c.AddHook(hook)
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
	require.Less(t, hook.made.Load(), int64(requests))
	for n := 1000 - requests; n < 1000; n++ {
		require.EqualValues(t, 1, left[n].Load(), "each request has an answer of its own")
	}
}

func TestACallerWhoGoesAwayTakesNobodyAlong(t *testing.T) {
	c, hook := client(t), &trips{first: make(chan struct{})}
	c.AddHook(hook)
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	gone, leave := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error { l.TakeKey(gone, tenant, 1); return nil })
	require.Eventually(t, func() bool { return hook.made.Load() == 1 }, 5*time.Second, time.Millisecond)
	leave()
	require.NoError(t, group.Wait(), "it does not wait for the trip")

	other, _ := l.TakeKey(t.Context(), tenant, 2)
	require.True(t, other.Allowed)
	require.Equal(t, 9, other.Remaining)
	close(hook.first)
	require.Eventually(t, func() bool {
		n, err := c.LLen(t.Context(), "gifting:requests:{"+tenant+"}:1").Result()
		return err == nil && n == 1
	}, 5*time.Second, time.Millisecond, "it was on its way and is counted")
}

func TestTheScriptIsLoadedAgain(t *testing.T) {
	c := client(t)
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	for n := 9; n > 6; n-- {
		require.NoError(t, c.ScriptFlush(t.Context()).Err(), "as a Redis that was started again")
		v, _ := l.TakeKey(t.Context(), tenant, 1)
		require.Equal(t, n, v.Remaining)
	}
	counted, err := c.LLen(t.Context(), "gifting:requests:{"+tenant+"}:1").Result()
	require.NoError(t, err)
	require.EqualValues(t, 3, counted)
}

func TestRequestsThatFindNoScriptShareRoundTripsToo(t *testing.T) {
	c, hook := client(t), &trips{first: make(chan struct{})}
	c.AddHook(hook)
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
	require.Eventually(t, func() bool { return hook.made.Load() == 1 }, 5*time.Second, time.Millisecond)
	require.NoError(t, c.ScriptFlush(t.Context()).Err())
	for range 100 {
		group.Go(ask)
	}
	close(hook.first)
	require.NoError(t, group.Wait())
	require.EqualValues(t, 101, allowed.Load())
	require.Zero(t, hook.alone.Load())
}
