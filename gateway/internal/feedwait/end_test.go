package feedwait

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/parking"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// newLine is the connection of a caller, which closes it with the other end.
func newLine(t *testing.T) (line *parking.Conn, callers net.Conn) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { require.NoError(t, ours.Close()) })
	return &parking.Conn{Conn: ours}, theirs
}

func newWaits(t *testing.T, within time.Duration) *Waits {
	t.Helper()
	w, err := New(Deps{Meter: telemetry.Discard().Meters.Meter("test")}, Config{MaxHeld: 200, EndWithin: within})
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
			outcomes := make(chan Outcome, 200)
			for key := range int32(200) {
				p := caller.Principal{TenantID: "a", KeyID: key}
				waiter := w.Register(p)
				place := w.Enter(t.Context(), p, time.Hour)
				require.NotNil(t, place)
				line, _ := newLine(t)
				group.Go(func() {
					defer waiter.Leave()
					defer place.Leave(t.Context())
					outcomes <- waiter.Wait(line, time.Now().Add(time.Hour))
				})
			}
			w.End()
			require.Equal(t, tc.want, w.endTime)
			w.Ended(t.Context())
			group.Wait()
			for range 200 {
				require.Equal(t, Over, <-outcomes)
			}
			require.Zero(t, w.places.count())
			require.Nil(t, w.Enter(t.Context(), caller.Principal{TenantID: "a", KeyID: 1}, time.Hour))
		})
	}
}

func TestAWaitEndsForItsReason(t *testing.T) {
	t.Parallel()
	wake := func(w *Waits, r *Waiter) {
		w.mu.Lock()
		defer w.mu.Unlock()
		r.wake()
	}
	for name, tc := range map[string]struct {
		before bool // The cause comes before the wait.
		cause  func(w *Waits, r *Waiter, callers net.Conn)
		want   Outcome
	}{
		"an event":              {false, func(w *Waits, r *Waiter, _ net.Conn) { wake(w, r) }, Noticed},
		"an event before":       {true, func(w *Waits, r *Waiter, _ net.Conn) { wake(w, r) }, Noticed},
		"the caller has left":   {false, func(_ *Waits, _ *Waiter, callers net.Conn) { _ = callers.Close() }, Gone},
		"the caller sends more": {false, func(_ *Waits, _ *Waiter, callers net.Conn) { _, _ = callers.Write([]byte("G")) }, Over},
		"the end":               {false, func(w *Waits, _ *Waiter, _ net.Conn) { w.End() }, Over},
		"the end before":        {true, func(w *Waits, _ *Waiter, _ net.Conn) { w.End() }, Over},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWaits(t, time.Millisecond)
			waiter := w.Register(caller.Principal{TenantID: "a", KeyID: 1})
			defer waiter.Leave()
			line, callers := newLine(t)
			defer func() { _ = callers.Close() }()
			if tc.before {
				tc.cause(w, waiter, callers)
			} else {
				go tc.cause(w, waiter, callers)
			}
			require.Equal(t, tc.want, waiter.Wait(line, time.Now().Add(time.Hour)))
		})
	}
}

func TestALateEventDoesNotDisturbAConnectionThatWasGivenBack(t *testing.T) {
	t.Parallel()
	w := newWaits(t, time.Millisecond)
	waiter := w.Register(caller.Principal{TenantID: "a", KeyID: 1})
	line, callers := newLine(t)
	require.Equal(t, Over, waiter.Wait(line, time.Now()))
	require.NoError(t, line.SetReadDeadline(time.Time{}))
	w.mu.Lock()
	waiter.wake()
	w.mu.Unlock()
	go func() { _, _ = callers.Write([]byte("next")) }()
	got := make([]byte, 4)
	n, err := line.Read(got)
	require.NoError(t, err)
	require.Equal(t, "next", string(got[:n]))
	require.Equal(t, Noticed, waiter.Wait(line, time.Now().Add(time.Hour)), "the event is not forgotten")
}

func TestNoPlaceIsTakenAfterTheEnd(t *testing.T) {
	t.Parallel()
	for range 2000 {
		w := newWaits(t, time.Millisecond)
		var ended atomic.Bool
		var callers sync.WaitGroup
		for key := range int32(4) {
			callers.Go(func() {
				for {
					place := w.Enter(t.Context(), caller.Principal{TenantID: "a", KeyID: key}, time.Hour)
					if place == nil {
						return
					}
					assert.False(t, ended.Load())
					place.Leave(t.Context())
				}
			})
		}
		w.End()
		w.Ended(t.Context())
		ended.Store(true)
		callers.Wait()
	}
}
