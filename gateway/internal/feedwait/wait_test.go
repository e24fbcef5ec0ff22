package feedwait

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

func newWaits(t *testing.T, within time.Duration) *Waits {
	t.Helper()
	w, err := New(Deps{Meter: telemetry.Discard().Meters.Meter("test")}, Config{MaxHeld: 200, ShutdownWithin: within})
	require.NoError(t, err)
	return w
}

func TestHeldCallsDoNotEndAtTheSameMoment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ within, want time.Duration }{
		"at the rate of a stream that begins": {time.Minute, 100 * time.Millisecond},
		"sooner, if the drain ends sooner":    {10 * time.Millisecond, 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWaits(t, tc.within)
			var group sync.WaitGroup
			for key := range int32(200) {
				p := caller.Principal{TenantID: "a", KeyID: key}
				waiter := w.Register(p)
				slot := w.Acquire(t.Context(), p, time.Hour)
				require.NotNil(t, slot)
				group.Go(func() {
					defer waiter.Unregister()
					defer slot.Release(t.Context())
					noticed, err := waiter.Wait(t.Context(), time.Now().Add(time.Hour))
					assert.NoError(t, err)
					assert.False(t, noticed)
				})
			}
			w.Shutdown()
			require.Equal(t, tc.want, w.shutdownTime)
			group.Wait()
			require.Zero(t, w.slots.count())
			require.Nil(t, w.Acquire(t.Context(), caller.Principal{TenantID: "a", KeyID: 1}, time.Hour))
		})
	}
}

func TestAWaitEndsForItsReason(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cause   func(w *Waits, r *Waiter, leave func())
		noticed bool
		err     error
	}{
		"an event":            {func(_ *Waits, r *Waiter, _ func()) { signal(r.noticed) }, true, nil},
		"the caller has left": {func(_ *Waits, _ *Waiter, leave func()) { leave() }, false, context.Canceled},
		"the shutdown":        {func(w *Waits, _ *Waiter, _ func()) { w.Shutdown() }, false, nil},
	} {
		for _, before := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " before", false: ""}[before], func(t *testing.T) {
				t.Parallel()
				w := newWaits(t, time.Millisecond)
				waiter := w.Register(caller.Principal{TenantID: "a", KeyID: 1})
				defer waiter.Unregister()
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				if before {
					tc.cause(w, waiter, leave)
				} else {
					go tc.cause(w, waiter, leave)
				}
				noticed, err := waiter.Wait(ctx, time.Now().Add(time.Hour))
				require.Equal(t, tc.noticed, noticed)
				require.ErrorIs(t, err, tc.err)
			})
		}
	}
}

// Slots of a time when the clock of Redis was ahead would otherwise stay taken until that time has come.
func TestSlotsOfAClockThatWentBackAreFree(t *testing.T) {
	t.Parallel()
	opts, err := redis.ParseURL(testenv.Require(t, testenv.RedisURL))
	require.NoError(t, err)
	client := redis.NewClient(opts)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	w, err := New(Deps{Redis: client, Meter: telemetry.Discard().Meters.Meter("test")},
		Config{MaxHeld: 200, ShutdownWithin: time.Minute, RedisBudget: 10 * time.Second})
	require.NoError(t, err)
	p := caller.Principal{TenantID: uuid.NewString(), KeyID: 1}
	acquire := func() *Slot {
		slot := w.Acquire(t.Context(), p, 30*time.Second)
		w.slots.held[p.KeyID] = 0 // As on another gateway.
		return slot
	}
	key := acquire().slotsKey()
	t.Cleanup(func() { client.Del(context.Background(), key) })
	for range maxPerKey - 1 {
		require.NotNil(t, acquire())
	}
	require.Nil(t, acquire())
	for _, slot := range client.ZRange(t.Context(), key, 0, -1).Val() {
		require.NoError(t, client.ZIncrBy(t.Context(), key, time.Hour.Seconds()*1000, slot).Err())
	}
	require.NotNil(t, acquire())
	require.EqualValues(t, 1, client.ZCard(t.Context(), key).Val())
}

func TestAnEventAfterAWaitIsNotForgotten(t *testing.T) {
	t.Parallel()
	w := newWaits(t, time.Millisecond)
	waiter := w.Register(caller.Principal{TenantID: "a", KeyID: 1})
	noticed, err := waiter.Wait(t.Context(), time.Now())
	require.NoError(t, err)
	require.False(t, noticed)
	for range 2 {
		signal(waiter.noticed)
	}
	noticed, err = waiter.Wait(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.True(t, noticed)
}
