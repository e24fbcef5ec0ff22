package sender

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/store"
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

// The first sender hangs, and its late result changes nothing.
func TestADeliveryWhoseLeaseEndedIsSentAgain(t *testing.T) {
	t.Parallel()
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

// Searches fail while a snapshot has been open for very long. A database that was restored may lack the registration.
func TestFirstAttemptsNeedNoSearchAndTheRegistrationIsRenewed(t *testing.T) {
	t.Parallel()
	for name, noSearch := range map[string]bool{"no search succeeds": true, "searches succeed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			f.noSearch = noSearch
			f.receiver(7)
			s := f.start()
			id := f.event(7)
			s.Notify(f.due(7))
			f.waitFor(id, 7, inState("DELIVERED"))

			pgtest.Exec(t, f.pool, "DELETE FROM senders WHERE id = $1", s.id)
			require.Eventually(t, func() bool {
				return pgtest.Value[int](t, f.pool, "SELECT count(*) FROM senders WHERE id = $1", s.id) == 1
			}, waitLimit, pollInterval)
			id = f.event(7)
			s.Notify(f.due(7))
			f.waitFor(id, 7, inState("DELIVERED"))
		})
	}
}

func TestARetryIsFoundWhenItIsDueWithoutPolling(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.Poll, f.heartbeat = 10*time.Millisecond, time.Hour
	r := f.receiver(7, webhooktest.Status(http.StatusInternalServerError))
	first := f.start()
	id := f.event(7)
	first.Wake()
	next := f.waitFor(id, 7, attempted(1)).Next
	first.stop()
	require.NoError(t, first.wait())

	// The next search of a new instance is when its first one said that the retry is due.
	f.clock.set(next.Add(-200 * time.Millisecond))
	r.Respond(webhooktest.Status(http.StatusOK))
	s := f.start()
	require.Eventually(t, s.registered.Load, waitLimit, pollInterval)
	f.clock.set(*next)
	require.Equal(t, 2, f.waitFor(id, 7, inState("DELIVERED")).Attempts)
}

func TestTheTimeOfTheNextSearch(t *testing.T) {
	t.Parallel()
	s := &Sender{cfg: Config{Poll: time.Second}, heartbeat: 5 * time.Second}
	for name, c := range map[string]struct {
		found store.Discovery
		want  time.Duration
	}{
		"nothing is pending":         {store.Discovery{}, 5 * time.Second},
		"something is due soon":      {store.Discovery{NextDue: 3 * time.Second}, 3 * time.Second},
		"it is due at once":          {store.Discovery{NextDue: time.Millisecond}, time.Second},
		"it is due much later":       {store.Discovery{NextDue: time.Hour}, 5 * time.Second},
		"something is due and waits": {store.Discovery{Due: []store.Due{{}}, NextDue: time.Hour}, time.Second},
	} {
		require.Equal(t, c.want, s.nextSearch(c.found), name)
	}
}
