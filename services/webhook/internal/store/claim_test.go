package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestAClaimTakesEndpointsInTurn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 20 {
		f.addEvent(t, tenantA, noon.Add(-time.Hour), 1)
	}
	f.addEvent(t, tenantA, noon, 2)
	f.addEvent(t, tenantB, noon, 3)
	future := f.addEvent(t, tenantB, noon.Add(time.Microsecond), 4)

	count := func(list []Delivery) map[int32]int {
		n := map[int32]int{}
		for _, d := range list {
			require.Equal(t, d.EventID, string(d.Body))
			n[d.KeyID]++
		}
		return n
	}
	require.Equal(t, map[int32]int{1: 1, 2: 1, 3: 1}, count(f.claim(t, noon, 3, 8)),
		"the first row of each endpoint before the second of any")
	require.Equal(t, map[int32]int{1: 4}, count(f.claim(t, noon, 100, 5)), "up to the limit per endpoint")
	require.Empty(t, f.claim(t, noon, 100, 5))
	require.Equal(t, map[int32]int{4: 1}, count(f.claim(t, noon.Add(time.Microsecond), 100, 5)), "event %s is due now", future)
}

func TestAClaimGetsNoMoreOfAnEndpointThanItWants(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 5 {
		f.addEvent(t, tenantA, noon, 1, 2)
	}
	const first, second = 1, 2
	claim := func(sender int64, endpoints ...ClaimTarget) (rows, left map[int32]int) {
		require.NoError(t, f.Register(t.Context(), sender))
		r := request(100)
		r.Sender, r.Share, r.Endpoints = sender, 3, endpoints
		claimed, err := f.Claim(t.Context(), r)
		require.NoError(t, err)
		rows, left = map[int32]int{}, map[int32]int{}
		for _, d := range claimed.Deliveries {
			rows[d.KeyID]++
		}
		for _, d := range claimed.Unclaimed {
			left[d.KeyID]++
		}
		return rows, left
	}
	want := func(key int32, rows int) ClaimTarget {
		w := wanted(key, noon, 0)
		w.Rows = rows
		return w
	}
	rows, left := claim(first, want(1, 8), want(2, 1))
	require.Equal(t, map[int32]int{1: 3, 2: 1}, rows)
	require.Equal(t, map[int32]int{1: 1, 2: 1}, left)
	rows, left = claim(second, want(1, 1), want(2, 1))
	require.Equal(t, map[int32]int{2: 1}, rows, "the share is that of all senders")
	require.Equal(t, map[int32]int{1: 1, 2: 1}, left)
}

func TestConcurrentClaimsNeverExceedTheLimitPerEndpoint(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const claimers, perEndpoint, endpoints = 8, 3, 4
	for range 30 {
		f.addEvent(t, tenantA, noon, 1, 2)
		f.addEvent(t, tenantB, noon, 3, 4)
	}
	var guard sync.Mutex
	claimed := map[int32]int{}
	type row struct {
		event string
		key   int32
	}
	seen := map[row]bool{}
	var group errgroup.Group
	for range claimers {
		group.Go(func() error {
			for range 10 {
				got, err := f.claimDue(context.WithoutCancel(t.Context()), request(2), perEndpoint)
				if err != nil {
					return err
				}
				guard.Lock()
				for _, d := range got.Deliveries {
					claimed[d.KeyID]++
					seen[row{d.EventID, d.KeyID}] = true
				}
				guard.Unlock()
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, map[int32]int{1: 3, 2: 3, 3: 3, 4: 3}, claimed)
	require.Len(t, seen, endpoints*perEndpoint, "no row is claimed twice")
}

func TestAResultIsRecordedOnlyUnderItsLease(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1)
	first := f.claim(t, noon, 1, 1)[0]
	late := noon.Add(30 * time.Second)
	second := f.claim(t, late, 1, 1)[0]
	require.NotEqual(t, first.Token, second.Token)

	require.ErrorIs(t, f.record(t, first, delivered, 200), errLeaseLost)
	require.NoError(t, f.Release(t.Context(), []Delivery{first}, 0), "a lost lease releases nothing")
	require.Empty(t, f.claim(t, late, 1, 1))
	require.NoError(t, f.record(t, second, delivered, 200))
	require.ErrorIs(t, f.record(t, second, delivered, 200), errLeaseLost)
	require.Empty(t, f.claim(t, late.Add(time.Hour), 1, 1))
}

func TestOneStatementRecordsADeliveryOnlyUnderItsLastLease(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1)
	first := f.claim(t, noon, 1, 1)[0]
	second := f.claim(t, noon.Add(30*time.Second), 1, 1)[0]

	recorded, err := f.Record(t.Context(), []Result{
		{Delivery: first, Verdict: failed, Attempt: Attempt{StartedAt: noon, Outcome: rules.Answered(500)}},
		{Delivery: second, Verdict: delivered, Attempt: Attempt{StartedAt: f.now, Outcome: rules.Answered(200)}},
	})
	require.NoError(t, err)
	require.Equal(t, []bool{false, true}, recorded)
	_, _, attempts, err := f.Get(t.Context(), first.Endpoint, first.EventID)
	require.NoError(t, err)
	require.Len(t, attempts, 1)
	require.EqualValues(t, 200, *attempts[0].ResponseStatus)
}

func TestAPausedEndpointIsNotClaimed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1, 2)
	paused := []Endpoint{{TenantID: tenantA, KeyID: 1}}
	require.NoError(t, f.Pause(t.Context(), paused, time.Second))
	require.NoError(t, f.Pause(t.Context(), paused, time.Minute))
	got := f.claim(t, noon.Add(2*time.Second), 10, 10)
	require.Len(t, got, 1)
	require.EqualValues(t, 2, got[0].KeyID)

	got = f.claim(t, noon.Add(time.Minute), 10, 10)
	require.Len(t, got, 2, "the pause is over, and the other delivery's lease has ended")
}

func TestAClaimSaysSinceWhenADeliveryCouldBeSentAndWhetherItWasDeferred(t *testing.T) {
	t.Parallel()
	const later = time.Hour
	for name, c := range map[string]struct {
		// happens to the delivery of an event, a minute after it was stored.
		happens  func(f *fixture, id string) error
		deferred bool
		age      time.Duration
	}{
		"a pause of another tenant": {func(f *fixture, _ string) error {
			return f.Pause(t.Context(), []Endpoint{{tenantB, 1}}, 15*time.Second)
		}, false, later + time.Minute},
		"a pause": {func(f *fixture, _ string) error {
			return f.Pause(t.Context(), []Endpoint{own}, 15*time.Second)
		}, true, later - 15*time.Second},
		"a pause that was over": {func(f *fixture, _ string) error {
			return f.Pause(t.Context(), []Endpoint{own}, -2*time.Minute)
		}, false, later + time.Minute},
		"dropped and resent": {func(f *fixture, id string) error {
			_, _, err := f.Drop(t.Context(), own, f.now, time.Time{}, 1)
			return errors.Join(err, f.Resend(t.Context(), own, id))
		}, true, later},
		"added for the key": {func(f *fixture, id string) error {
			pgtest.Exec(t, f.pool, "DELETE FROM deliveries WHERE tenant_id = $1", tenantA)
			_, err := f.FanOut(t.Context(), 1, []Event{anEvent(id, 1)})
			return err
		}, true, later},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			id := f.addEvent(t, tenantA, noon, 1)
			f.now = noon.Add(time.Minute)
			require.NoError(t, c.happens(f, id))
			got := f.claim(t, f.now.Add(later), 1, 1)
			require.Len(t, got, 1)
			require.Equal(t, c.deferred, got[0].Deferred)
			require.Equal(t, c.age, got[0].Age)
		})
	}
}

func TestAClaimReturnsTheEndpointsThatMayHaveMoreDueRows(t *testing.T) {
	t.Parallel()
	f := setup(t)
	more := func(limit, perEndpoint int) bool {
		t.Helper()
		claimed, err := f.claimDue(t.Context(), request(limit), perEndpoint)
		require.NoError(t, err)
		return len(claimed.Unclaimed) > 0
	}
	require.False(t, more(10, 2), "nothing is due")
	f.addEvent(t, tenantA, noon, 1)
	require.False(t, more(10, 2), "all due rows were claimed, and a slot is free")
	f.addEvent(t, tenantA, noon, 1)
	require.True(t, more(10, 2), "the endpoint has no free slot")
	require.False(t, more(10, 2), "no slot is free, but nothing is due either")
	f.addEvent(t, tenantA, noon, 1)
	require.True(t, more(10, 2), "a row is due without a free slot")
	f.addEvent(t, tenantA, noon, 2, 3)
	require.True(t, more(1, 2), "the limit was reached")
}

func TestTimesAreThoseOfTheDatabasesClock(t *testing.T) {
	t.Parallel()
	f := &fixture{Store: New(pgtest.New(t, Migrations())), now: time.Now()}
	// since returns the time since a column of the only delivery, by the database's clock.
	since := func(column string) time.Duration {
		return pgtest.Value[time.Duration](t, f.pool, "SELECT clock_timestamp() - "+column+" FROM deliveries")
	}
	const slack = time.Minute
	_, err := f.FanOut(t.Context(), 0, []Event{anEvent(newID(), 1)})
	require.NoError(t, err)
	require.InDelta(t, 0, since("created_at"), float64(slack))

	claimOne := func() []Delivery {
		claimed, err := f.claimDue(t.Context(), ClaimRequest{Lease: 24 * time.Hour, Limit: 1}, 1)
		require.NoError(t, err)
		return claimed.Deliveries
	}
	got := claimOne()
	require.Len(t, got, 1)
	require.InDelta(t, 0, got[0].Age, float64(slack))
	require.InDelta(t, -24*time.Hour, since("next_attempt_at"), float64(slack))
	require.NoError(t, f.Release(t.Context(), got, time.Hour))
	require.InDelta(t, -time.Hour, since("next_attempt_at"), float64(slack))
	require.Empty(t, claimOne())

	pgtest.Exec(t, f.pool, "UPDATE deliveries SET next_attempt_at = now()")
	require.NoError(t, f.record(t, claimOne()[0], delivered, 200))
	require.InDelta(t, 0, since("finished_at"), float64(slack))
}

func TestWaitingDeliveriesAreCounted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	waiting := func() Waiting {
		t.Helper()
		f.now = noon
		w, err := f.Waiting(t.Context(), nil)
		require.NoError(t, err)
		return w
	}
	require.Zero(t, waiting())

	f.addEvent(t, tenantA, noon.Add(-time.Hour), 1)
	f.addEvent(t, tenantA, noon.Add(-2*time.Hour), 2)
	f.addEvent(t, tenantB, noon.Add(-time.Minute), 3)
	require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: 2 * time.Hour}, waiting())

	t.Run("endpoints beyond the counted deliveries are looked at too", func(t *testing.T) {
		const limit = 1
		var w Waiting
		require.NoError(t, f.pool.QueryRow(t.Context(), selectWaiting, noon, limit, nil, nil).Scan(&w.Deliveries, &w.Oldest, &w.Due))
		require.Equal(t, Waiting{Deliveries: limit, Oldest: time.Hour, Due: 2 * time.Hour}, w)
	})
	t.Run("a pause of another tenant's endpoint changes nothing", func(t *testing.T) {
		require.NoError(t, f.Pause(t.Context(), []Endpoint{{TenantID: tenantB, KeyID: 2}}, time.Minute))
		require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: 2 * time.Hour}, waiting())
	})
	t.Run("an impaired endpoint is left out", func(t *testing.T) {
		w, err := f.Waiting(t.Context(), []Endpoint{{TenantID: tenantA, KeyID: 2}, {TenantID: tenantB, KeyID: 1}})
		require.NoError(t, err)
		require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, w)
	})
	t.Run("a delivery that is tried again later waits but is not due", func(t *testing.T) {
		taken := f.claim(t, noon, 1, 1)
		require.Equal(t, int32(2), taken[0].KeyID)
		require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, waiting(), "while it is sent")
		require.NoError(t, f.record(t, taken[0], retryIn1h, 500))
		require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, waiting())
	})
	t.Run("nor is one of an endpoint with a request in flight", func(t *testing.T) {
		f.addEvent(t, tenantA, noon.Add(-time.Hour), 1)
		taken := f.claim(t, noon, 1, 1)
		require.Equal(t, int32(1), taken[0].KeyID)
		require.Equal(t, Waiting{Deliveries: 4, Oldest: 2 * time.Hour, Due: time.Minute}, waiting())
	})
	t.Run("nor is one of a paused endpoint", func(t *testing.T) {
		require.NoError(t, f.Pause(t.Context(), []Endpoint{{TenantID: tenantB, KeyID: 3}}, time.Minute))
		require.Equal(t, Waiting{Deliveries: 4, Oldest: 2 * time.Hour}, waiting())
	})
}
