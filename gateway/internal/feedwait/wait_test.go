package feedwait

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/telemetry"
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
