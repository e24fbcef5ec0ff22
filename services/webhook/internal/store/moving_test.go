package store

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

// hold holds back the deliveries of tenant A, and release ends that.
func (f *fixture) hold(t *testing.T) {
	t.Helper()
	pgtest.Exec(t, f.pool, `SELECT hold_deliveries($1, '{2,1}')`, tenantA)
}

func (f *fixture) release(t *testing.T) {
	t.Helper()
	pgtest.Exec(t, f.pool, `SELECT release_deliveries($1)`, tenantA)
}

func TestTheDeliveriesOfATenantThatMovesAreHeldBack(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.addEvent(t, tenantA, noon, 1, 2)
	f.addEvent(t, tenantB, noon, 3)
	require.NoError(t, f.Register(t.Context(), ownSender))
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, 1}}, time.Hour))
	f.hold(t)
	f.hold(t) // It may be repeated.

	found, err := f.Discover(t.Context(), ownSender, true)
	require.NoError(t, err)
	require.Equal(t, []Endpoint{{tenantB, 3}}, found.Pending)
	require.Len(t, found.Due, 1)
	require.Zero(t, found.NextDue)
	waiting, err := f.Waiting(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, waiting.Due)

	// A sender may have been notified of them.
	wanted := request(10)
	wanted.Sender, wanted.Share = ownSender, 10
	for _, e := range []Endpoint{{tenantA, 1}, {tenantA, 2}, {tenantB, 3}} {
		wanted.Endpoints = append(wanted.Endpoints, ClaimTarget{Due: Due{Endpoint: e, Since: noon}, Rows: 10})
	}
	claimed, err := f.Claim(t.Context(), wanted)
	require.NoError(t, err)
	require.Len(t, claimed.Deliveries, 1)
	require.Equal(t, tenantB, claimed.Deliveries[0].TenantID)
	require.Empty(t, claimed.Contended)
	for _, left := range claimed.Unclaimed {
		require.Equal(t, tenantB, left.TenantID, "a sender must not try again and again")
	}
	require.Empty(t, f.lease(t, 1, 0).Leased, "new ones")

	f.release(t)
	require.Len(t, f.lease(t, 1, 0).Leased, 1, "its endpoint is not paused any more")
	require.Len(t, f.claim(t, noon, 10, 10), 5)
}

// A claim that has the lock of an endpoint leases its rows before the tenant is held back. One that gets the lock afterwards leases
// none, even if it had looked before.
func TestNothingIsLeasedOnceATenantIsHeldBack(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.addEvent(t, tenantA, noon, 1)
	claim, err := f.pool.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, claim, "SELECT pg_advisory_xact_lock($1::int, 1)", claimLock)
	held := make(chan error, 1)
	go func() {
		_, err := f.pool.Exec(t.Context(), `SELECT hold_deliveries($1, '{1}')`, tenantA)
		held <- err
	}()
	pgtest.AwaitLock(t, f.pool)
	require.NoError(t, claim.Commit(t.Context()))
	require.NoError(t, <-held)

	sender := rand.Int64()
	require.NoError(t, f.Register(t.Context(), sender))
	tx, err := f.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	pgtest.Exec(t, tx, "SELECT set_config('claim.locked', '{1}', true)") // As after lockEndpoints.
	rows, err := tx.Query(t.Context(), leaseRows, noon, []string{tenantA}, []int32{1}, []time.Time{noon}, []int{0}, sender, 8, 8,
		newID(), time.Minute, []int{8})
	require.NoError(t, err)
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
}
