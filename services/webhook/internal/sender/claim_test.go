package sender

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

// After its start the sender is woken only by finished attempts.
func TestTheEndOfAnAttemptFreesASlotForTheNext(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(f *fixture){
		"of an endpoint":  func(f *fixture) { f.cfg.PerEndpoint = 2 },
		"for all workers": func(f *fixture) { f.cfg.Workers = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			f.cfg.Poll = time.Hour
			limit(f)
			r := f.receiver(1, webhooktest.Status(http.StatusNoContent))
			const events = 25
			for range events {
				f.event(1)
			}
			f.start().Wake()
			require.Eventually(t, func() bool { return len(r.Arrivals()) == events }, waitLimit, pollInterval)
			require.LessOrEqual(t, r.MaxConcurrent(), 2)
		})
	}
}

func TestADeliveryWhoseLeaseEndedIsSentAgain(t *testing.T) {
	t.Parallel()
	t.Run("by another sender if the first one hangs, whose late result changes nothing", func(t *testing.T) {
		f := setup(t)
		release := make(chan struct{})
		receiver := f.receiver(7, webhooktest.Blocked(release))
		hanging := f.start()
		id := f.event(7)
		require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 1 }, waitLimit, pollInterval)

		receiver.Respond(webhooktest.Status(204))
		f.clock.advance(f.cfg.Lease)
		f.start()
		done := f.waitFor(id, 7, inState("DELIVERED"))
		require.Len(t, receiver.Arrivals(), 2)

		close(release)
		hanging.stop()
		require.NoError(t, hanging.wait())
		require.Equal(t, done, f.row(id, 7))
		require.Equal(t, 1, done.Attempts)
		require.Equal(t, 1, done.Logged)
	})
	t.Run("after the crash of a sender that had claimed it", func(t *testing.T) {
		f := setup(t)
		f.receiver(7)
		id := f.event(7)
		require.Len(t, claimDue(t, f.store, 30*time.Second), 1)

		f.clock.advance(30*time.Second - time.Microsecond)
		require.Empty(t, claimDue(t, f.store, time.Minute))

		f.clock.advance(time.Microsecond)
		f.start()
		require.Equal(t, 1, f.waitFor(id, 7, inState("DELIVERED")).Attempts)
	})
}

func TestASenderWithAWrongClockClaimsNothingThatIsBeingSent(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			release := make(chan struct{})
			slow := f.receiver(7, webhooktest.Blocked(release))
			f.receiver(8)
			first := f.start()
			held := f.event(7)
			require.Eventually(t, func() bool { return len(slow.Arrivals()) == 1 }, waitLimit, pollInterval)
			first.stop() // It still waits for the response, but claims no further deliveries.

			f.startAt(func() time.Time { return f.clock.now().Add(off) })
			for range 3 {
				id := f.event(8)
				require.Equal(t, 1, f.waitFor(id, 8, inState("DELIVERED")).Attempts, "it delivers what is due")
			}
			require.Len(t, slow.Arrivals(), 1)
			close(release)
			require.NoError(t, first.wait())
			require.Equal(t, row{State: "DELIVERED", Attempts: 1, Logged: 1}, f.row(held, 7))
		})
	}
}

func TestADeliveryIsNotBegunWhenItsLeaseMightEndFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.healthy = []int32{7}
	receiver := f.receiver(7)
	f.directory.OnCall(func(context.Context, proto.Message) error {
		if f.lookups() == 1 {
			f.clock.advance(f.cfg.Lease - f.cfg.Timeout)
		}
		return nil
	})
	f.start()
	id := f.event(7)
	require.Equal(t, 1, f.waitFor(id, 7, inState("DELIVERED")).Attempts)
	require.Equal(t, 2, f.lookups(), "it was given back and claimed again")
	require.Len(t, receiver.Arrivals(), 1)
}

func TestTwoSendersShareTheWork(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.PerEndpoint = 3
	var receivers []*webhooktest.Receiver
	var keys []int32
	const endpoints, events = 5, 40
	for key := range int32(endpoints) {
		receivers = append(receivers, f.receiver(key+1))
		keys = append(keys, key+1)
	}
	first := f.start()
	second := f.start()
	for range events {
		f.event(keys...)
		first.Wake()
		second.Wake()
	}
	require.Eventually(t, func() bool {
		var open int
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT count(*) FROM deliveries WHERE state <> 'DELIVERED'").Scan(&open))
		return open == 0
	}, 2*waitLimit, pollInterval)
	for _, r := range receivers {
		seen := map[string]int{}
		for _, a := range r.Arrivals() {
			seen[a.Header.Get("Service-Event-Id")]++
		}
		require.Len(t, seen, events)
		require.Len(t, r.Arrivals(), events, "no delivery is sent by both")
		require.LessOrEqual(t, r.MaxConcurrent(), 3, "the limit per endpoint holds over both senders")
	}
}

func TestStoppingFinishesTheAttemptsInFlight(t *testing.T) {
	t.Parallel()
	f := setup(t)
	release := make(chan struct{})
	receiver := f.receiver(7, webhooktest.Blocked(release))
	s := f.start()
	id := f.event(7)
	require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 1 }, waitLimit, pollInterval)

	s.stop()
	close(release)
	require.NoError(t, s.wait())
	require.Equal(t, row{State: "DELIVERED", Attempts: 1, Logged: 1}, f.row(id, 7))
}

func TestEndpointsAreLookedUpOnceForAClaim(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Poll = time.Hour
	f.healthy = []int32{7, 8}
	f.receiver(7)
	f.receiver(8)
	delivered := func(id string) {
		f.waitFor(id, 7, inState("DELIVERED"))
		f.waitFor(id, 8, inState("DELIVERED"))
	}
	first := f.event(7, 8)
	s := f.start()
	delivered(first)
	require.Equal(t, 1, f.lookups())

	// From now on the sender claims only when it is notified.
	second := f.event(7, 8)
	s.Notify(f.due(8, 7, 8))
	delivered(second)
	require.Equal(t, 2, f.lookups())
}

func TestASenderWhoseRegistrationIsRemovedRegistersAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.receiver(7)
	s := f.start()
	first := f.event(7)
	s.Notify(f.due(7))
	f.waitFor(first, 7, inState("DELIVERED"))
	_, err := f.pool.Exec(t.Context(), "DELETE FROM senders")
	require.NoError(t, err)
	second := f.event(7)
	s.Notify(f.due(7))
	f.waitFor(second, 7, inState("DELIVERED"))
}
