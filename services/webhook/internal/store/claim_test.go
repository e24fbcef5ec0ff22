package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhooktest"
)

const (
	tenantA = "0190aaaa-0000-7000-8000-000000000001"
	tenantB = "0190bbbb-0000-7000-8000-000000000002"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// world is a store whose clock stands where the last call has set it.
type world struct {
	*store.Store
	pool *pgxpool.Pool
	time time.Time
}

func setup(t *testing.T) *world {
	t.Helper()
	w := &world{pool: pgtest.New(t, store.Migrations()), time: now()}
	webhooktest.SoundAtTheEnd(t, w.pool)
	w.Store = store.NewAt(w.pool, func() time.Time { return w.time })
	return w
}

func (w *world) at(t time.Time) *store.Store {
	w.time = t
	return w.Store
}

func add(t *testing.T, s *world, tenant string, at time.Time, keys ...int32) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	require.NoError(t, s.at(at).FanOut(t.Context(), []store.Event{
		{TenantID: tenant, ID: id, Type: "order.created", Body: []byte(id), KeyIDs: keys},
	}, nil))
	return id
}

func claim(t *testing.T, s *world, at time.Time, limit, perEndpoint int) []store.Delivery {
	t.Helper()
	claimed, err := s.at(at).Claim(t.Context(), request(limit, perEndpoint))
	require.NoError(t, err)
	require.False(t, claimed.Contended)
	return claimed.Deliveries
}

// record records one result.
func record(t *testing.T, s *store.Store, d store.Delivery, v rules.Verdict, a store.Attempt) error {
	t.Helper()
	recorded, err := s.Record(t.Context(), []store.Result{{Delivery: d, Verdict: v, Attempt: a}})
	if err == nil && !recorded[0] {
		return store.ErrLeaseLost
	}
	return err
}

func request(limit, perEndpoint int) store.ClaimRequest {
	return store.ClaimRequest{Lease: 30 * time.Second, Limit: limit, PerEndpoint: perEndpoint}
}

func TestAClaimTakesEndpointsInTurn(t *testing.T) {
	s := setup(t)
	for range 20 {
		add(t, s, tenantA, now().Add(-time.Hour), 1)
	}
	add(t, s, tenantA, now(), 2)
	add(t, s, tenantB, now(), 3)
	future := add(t, s, tenantB, now().Add(time.Microsecond), 4)

	count := func(list []store.Delivery) map[int32]int {
		n := map[int32]int{}
		for _, d := range list {
			require.Equal(t, d.EventID, string(d.Body))
			n[d.KeyID]++
		}
		return n
	}
	require.Equal(t, map[int32]int{1: 1, 2: 1, 3: 1}, count(claim(t, s, now(), 3, 8)), "a backlog comes after every other's first")
	require.Equal(t, map[int32]int{1: 4}, count(claim(t, s, now(), 100, 5)), "up to what one endpoint may have")
	require.Empty(t, claim(t, s, now(), 100, 5))
	require.Equal(t, map[int32]int{4: 1}, count(claim(t, s, now().Add(time.Microsecond), 100, 5)), "event %s is due now", future)
}

func TestConcurrentClaimsNeverPassTheCap(t *testing.T) {
	s := setup(t)
	const claimers, perEndpoint, endpoints = 8, 3, 4
	for range 30 {
		add(t, s, tenantA, now(), 1, 2)
		add(t, s, tenantB, now(), 3, 4)
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
				got, err := s.Claim(context.WithoutCancel(t.Context()), request(2, perEndpoint))
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

func TestOnlyTheLeasesHolderRecords(t *testing.T) {
	s := setup(t)
	add(t, s, tenantA, now(), 1)
	first := claim(t, s, now(), 1, 1)[0]
	late := now().Add(30 * time.Second)
	second := claim(t, s, late, 1, 1)[0]
	require.NotEqual(t, first.Token, second.Token)

	delivered := rules.Verdict{State: rules.Delivered, Counted: true}
	attempt := store.Attempt{StartedAt: now(), Outcome: rules.Answered(200)}
	require.ErrorIs(t, record(t, s.Store, first, delivered, attempt), store.ErrLeaseLost)
	require.NoError(t, s.Release(t.Context(), []store.Delivery{first}, 0), "gives nothing back that is not its own")
	require.Empty(t, claim(t, s, late, 1, 1))
	require.NoError(t, record(t, s.Store, second, delivered, attempt))
	require.ErrorIs(t, record(t, s.Store, second, delivered, attempt), store.ErrLeaseLost)
	require.Empty(t, claim(t, s, late.Add(time.Hour), 1, 1))
}

func TestAPausedEndpointIsNotClaimed(t *testing.T) {
	s := setup(t)
	add(t, s, tenantA, now(), 1, 2)
	paused := []store.Endpoint{{TenantID: tenantA, KeyID: 1}}
	require.NoError(t, s.Pause(t.Context(), paused, time.Second))
	require.NoError(t, s.Pause(t.Context(), paused, time.Minute))
	got := claim(t, s, now().Add(2*time.Second), 10, 10)
	require.Len(t, got, 1)
	require.EqualValues(t, 2, got[0].KeyID)

	got = claim(t, s, now().Add(time.Minute), 10, 10)
	require.Len(t, got, 2, "the pause is over, and the other's lease has ended")
}

func TestReleasedRowsAreDueWhenTold(t *testing.T) {
	s := setup(t)
	add(t, s, tenantA, now(), 1)
	got := claim(t, s, now(), 1, 1)
	require.NoError(t, s.Release(t.Context(), got, time.Second))
	require.Empty(t, claim(t, s, now(), 1, 1))
	again := claim(t, s, now().Add(time.Second), 1, 1)
	require.Len(t, again, 1)
	require.Zero(t, again[0].Attempts)
}
