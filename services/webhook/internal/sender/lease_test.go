package sender_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

func TestADeliveryWhoseLeaseEndedIsSentAgain(t *testing.T) {
	t.Run("by another sender when the first hangs, whose late result changes nothing", func(t *testing.T) {
		w := setup(t)
		receiver := webhooktest.NewReceiver(t)
		release := make(chan struct{})
		receiver.Respond(webhooktest.Blocked(release))
		w.directory.SetActive(7, receiver)
		hanging := w.start()
		id, _ := w.event(7)
		require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 1 }, soon, often)

		receiver.Respond(webhooktest.Status(204))
		w.clock.advance(w.limits.Lease)
		w.start()
		done := w.until(id, 7, inState("DELIVERED"))
		require.Len(t, receiver.Arrivals(), 2)

		close(release)
		hanging.stop()
		require.NoError(t, hanging.wait())
		require.Equal(t, done, w.row(id, 7))
		require.Equal(t, 1, done.Attempts)
		require.Equal(t, 1, done.Logged)
	})
	t.Run("after the crash of a sender that had claimed it", func(t *testing.T) {
		w := setup(t)
		receiver := webhooktest.NewReceiver(t)
		w.directory.SetActive(7, receiver)
		id, _ := w.event(7)
		claimed, err := w.store.Claim(t.Context(), store.ClaimRequest{
			Lease: 30 * time.Second, Limit: 10, PerEndpoint: 8,
		})
		require.NoError(t, err)
		require.Len(t, claimed.Deliveries, 1)

		w.clock.advance(30*time.Second - time.Microsecond)
		again, err := w.store.Claim(t.Context(), store.ClaimRequest{
			Lease: time.Minute, Limit: 10, PerEndpoint: 8,
		})
		require.NoError(t, err)
		require.Empty(t, again.Deliveries)

		w.clock.advance(time.Microsecond)
		w.start()
		require.Equal(t, 1, w.until(id, 7, inState("DELIVERED")).Attempts)
	})
}

func TestASenderWithAWrongClockTakesNothingThatIsBeingSent(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			slow, quick := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
			release := make(chan struct{})
			slow.Respond(webhooktest.Blocked(release))
			w.directory.SetActive(7, slow)
			w.directory.SetActive(8, quick)
			first := w.start()
			held, _ := w.event(7)
			require.Eventually(t, func() bool { return len(slow.Arrivals()) == 1 }, soon, often)
			first.stop() // It still waits for its answer, but claims nothing more.

			w.startAt(func() time.Time { return w.clock.now().Add(off) })
			for range 3 {
				id, _ := w.event(8)
				require.Equal(t, 1, w.until(id, 8, inState("DELIVERED")).Attempts, "it delivers what is due")
			}
			require.Len(t, slow.Arrivals(), 1)
			close(release)
			require.NoError(t, first.wait())
			require.Equal(t, row{State: "DELIVERED", Attempts: 1, Logged: 1}, w.row(held, 7))
		})
	}
}

func TestADeliveryIsNotBegunWhenItsLeaseMightEndFirst(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	w.directory.SetActive(7, receiver)
	var lookups atomic.Int32
	w.directory.OnLookup(func() {
		if lookups.Add(1) == 1 {
			w.clock.advance(w.limits.Lease - w.limits.Timeout)
		}
	})
	w.start()
	id, _ := w.event(7)
	require.Equal(t, 1, w.until(id, 7, inState("DELIVERED")).Attempts)
	require.EqualValues(t, 2, lookups.Load(), "it was given back and claimed again")
	require.Len(t, receiver.Arrivals(), 1)
}

func TestNothingWaitsForAPoll(t *testing.T) {
	w := setup(t)
	w.limits.Poll, w.limits.PerEndpoint, w.limits.Workers = time.Hour, 2, 3
	busy, other := webhooktest.NewReceiver(t), webhooktest.NewReceiver(t)
	w.directory.SetActive(7, busy)
	w.directory.SetActive(8, other)
	s := w.start()
	for range 2 {
		var last string
		for range 20 {
			last, _ = w.event(7, 8)
		}
		s.Wake()
		w.until(last, 7, inState("DELIVERED"))
		w.until(last, 8, inState("DELIVERED"))
	}
	require.Eventually(t, func() bool { return len(busy.Arrivals())+len(other.Arrivals()) == 80 }, soon, often)
}

func TestTwoSendersShareTheWork(t *testing.T) {
	w := setup(t)
	w.limits.PerEndpoint = 3
	var receivers []*webhooktest.Receiver
	var keys []int32
	const endpoints, events = 5, 40
	for key := range int32(endpoints) {
		r := webhooktest.NewReceiver(t)
		w.directory.SetActive(key+1, r)
		receivers, keys = append(receivers, r), append(keys, key+1)
	}
	first := w.start()
	second := w.start()
	for range events {
		w.event(keys...)
		first.Wake()
		second.Wake()
	}
	require.Eventually(t, func() bool {
		var open int
		require.NoError(t, w.pool.QueryRow(t.Context(), "SELECT count(*) FROM deliveries WHERE state <> 'DELIVERED'").Scan(&open))
		return open == 0
	}, 2*soon, often)
	for _, r := range receivers {
		seen := map[string]int{}
		for _, a := range r.Arrivals() {
			seen[a.Header.Get("Service-Event-Id")]++
		}
		require.Len(t, seen, events)
		require.Len(t, r.Arrivals(), events, "no delivery is sent by both")
		require.LessOrEqual(t, r.MostAtOnce(), 3, "the cap holds over both senders")
	}
}

func TestStoppingFinishesWhatIsUnderWay(t *testing.T) {
	w := setup(t)
	receiver := webhooktest.NewReceiver(t)
	release := make(chan struct{})
	receiver.Respond(webhooktest.Blocked(release))
	w.directory.SetActive(7, receiver)
	s := w.start()
	id, _ := w.event(7)
	require.Eventually(t, func() bool { return len(receiver.Arrivals()) == 1 }, soon, often)

	s.stop()
	close(release)
	require.NoError(t, s.wait())
	require.Equal(t, row{State: "DELIVERED", Attempts: 1, Logged: 1}, w.row(id, 7))
}
