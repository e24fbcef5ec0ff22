package limits_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
)

const budget = 50 * time.Millisecond

// takeAtOnce makes requests from several goroutines and returns how many were accepted.
func takeAtOnce(t *testing.T, tenant string, requests int, gateways ...*limits.Limiter) int {
	t.Helper()
	var group errgroup.Group
	var accepted atomic.Int64
	group.SetLimit(4 * len(gateways))
	for i := range requests {
		group.Go(func() error {
			if v, _ := gateways[i%len(gateways)].TakeKey(t.Context(), tenant, 1); v.Allowed {
				accepted.Add(1)
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	return int(accepted.Load())
}

// However slow Redis is, and when it is fast again, a gateway accepts no more than the limit.
func TestASlowRedisDoesNotRaiseTheLimit(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond, 500 * time.Millisecond} {
		t.Run(delay.String(), func(t *testing.T) {
			t.Parallel()
			var w wire
			policy := limits.Policy{Name: "key", Limit: 60, Window: time.Minute}
			var later atomic.Int64
			clock := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
			l := newLimiter(t, limits.Deps{Redis: w.client(t), Clock: clock}, limits.Config{Policy: policy, RedisBudget: budget})
			tenant := uuid.NewString()
			accepted := takeAtOnce(t, tenant, 20, l)
			w.delay.Store(int64(delay))
			accepted += takeAtOnce(t, tenant, 20, l)
			w.delay.Store(0)
			later.Store(int64(2 * time.Second)) // The pause after failures has ended.
			accepted += takeAtOnce(t, tenant, 40, l)
			require.Equal(t, policy.Limit, accepted)
		})
	}
}

func TestDuringAnOutageEachGatewayHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	var w wire
	policy := limits.Policy{Name: "key", Limit: 60, Window: time.Minute}
	var later atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	near := limiter(t, client(t), policy)
	far := newLimiter(t, limits.Deps{Redis: w.client(t), Clock: clock}, limits.Config{Policy: policy, RedisBudget: budget})
	tenant := uuid.NewString()
	require.Equal(t, 50, takeAtOnce(t, tenant, 50, near))
	w.cut.Store(true)
	require.Equal(t, 60, takeAtOnce(t, tenant, 70, far))
	w.cut.Store(false)
	later.Store(int64(2 * time.Second)) // The pause after failures has ended.
	require.Equal(t, 10, takeAtOnce(t, tenant, 20, near, far), "Redis counts on, and the other gateway has used up what it may accept")
}

// Requests share a few writes to Redis. One that waits for others until its time is over is counted here, but Redis works.
func TestRequestsThatWaitForOthersAreNoOutage(t *testing.T) {
	t.Parallel()
	var w wire
	policy := limits.Policy{Name: "key", Limit: 90, Window: time.Minute}
	far := newLimiter(t, limits.Deps{Redis: w.client(t), Clock: time.Now}, limits.Config{Policy: policy, RedisBudget: 2 * time.Second})
	tenant := uuid.NewString()
	require.NoError(t, client(t).Set(t.Context(), "gifting:tenant-version:{"+tenant+"}", 7, time.Minute).Err())
	// thirty makes requests, of which the first ones have writes of their own, and returns how many were counted here.
	thirty := func() int64 {
		var group errgroup.Group
		var here atomic.Int64
		for i := range 30 {
			group.Go(func() error {
				if _, version := far.TakeKey(t.Context(), tenant, 1); version == 0 {
					here.Add(1)
				}
				return nil
			})
			if i < 8 {
				<-time.After(5 * time.Millisecond)
			}
		}
		require.NoError(t, group.Wait())
		return here.Load()
	}
	w.delay.Store(int64(20 * time.Millisecond))
	require.Zero(t, thirty(), "there is a connection for each write")
	w.delay.Store(int64(600 * time.Millisecond)) // There and back.
	require.Positive(t, thirty())
	w.delay.Store(0)
	_, version := far.TakeKey(t.Context(), tenant, 1)
	require.EqualValues(t, 7, version, "Redis is asked")
}
