package store

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestAKeyGetsTheEventsThatOnlyOthersHaveGot(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const fresh = "0190eeee-0000-7000-8000-000000000001"
	sent := f.addEvent(t, tenantA, noon, 1)
	f.deliverDue(t, noon)
	pending := f.addEvent(t, tenantA, noon, 1)
	both := f.addEvent(t, tenantA, noon, 1, 2)
	events := []Event{anEvent(sent, 1, 2), anEvent(pending, 1, 2), anEvent(both, 1, 2), anEvent(fresh, 1, 2)}

	missing, err := f.Missing(t.Context(), events, 0)
	require.NoError(t, err)
	require.Equal(t, events[3:], missing)
	missing, err = f.Missing(t.Context(), events, 2)
	require.NoError(t, err)
	require.Equal(t, []Event{anEvent(sent, 2), anEvent(pending, 2), anEvent(fresh, 1, 2)}, missing)

	for range 2 {
		_, err = f.FanOut(t.Context(), 2, missing)
		require.NoError(t, err)
		rows, err := f.pool.Query(t.Context(),
			"SELECT event_id || ' ' || key_id FROM deliveries WHERE tenant_id <> $1 AND state = 'PENDING'", pgtest.TwinTenant)
		require.NoError(t, err)
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.ElementsMatch(t, []string{
			sent + " 2", pending + " 1", pending + " 2", both + " 1", both + " 2", fresh + " 1", fresh + " 2",
		}, got, "what was delivered is not sent again")
	}
	missing, err = f.Missing(t.Context(), events, 2)
	require.NoError(t, err)
	require.Empty(t, missing)
}

// Otherwise the retention could delete the event between the statement that finds it and the end of the transaction.
func TestNoDeliveryIsAddedWhileAnEventIsDeleted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	id := f.addEvent(t, tenantA, noon, 1)
	f.deliverDue(t, noon)
	stored := make(chan error, 1)
	require.NoError(t, pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		pgtest.Exec(t, tx, "SELECT pg_advisory_xact_lock($1)", int64(retentionLock))
		go func() {
			_, err := f.FanOut(t.Context(), 2, []Event{anEvent(id, 2)})
			stored <- err
		}()
		pgtest.AwaitLock(t, f.pool)
		pgtest.Exec(t, tx, "DELETE FROM deliveries")
		pgtest.Exec(t, tx, "DELETE FROM events")
		return nil
	}))
	require.NoError(t, <-stored)
	require.Equal(t, 1, f.count(t, "events"))
	require.Equal(t, 1, f.count(t, "deliveries"))
}

// sameEvent stores an event with one id for two tenants, each with deliveries to its keys, and returns the first one's.
func (f *fixture) sameEvent(t *testing.T, keysA, keysB []int32) Event {
	t.Helper()
	a := anEvent(newID(), keysA...)
	b := a
	b.TenantID, b.KeyIDs = tenantB, keysB
	f.now = noon
	_, err := f.FanOut(t.Context(), 0, []Event{a, b})
	require.NoError(t, err)
	return a
}

// One claim has one token for the rows of all tenants.
func TestAResultIsThatOfItsTenant(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.sameEvent(t, []int32{1}, []int32{1})
	got := f.claim(t, noon, 2, 1)
	require.Len(t, got, 2)
	require.Equal(t, got[0].Token, got[1].Token)
	require.NoError(t, f.Release(t.Context(), got[:1], time.Hour))
	require.NoError(t, f.record(t, got[1], delivered, 200), "its lease was not released")

	f.sameEvent(t, []int32{1}, []int32{1})
	got = f.claim(t, noon, 2, 1)
	require.Len(t, got, 2)
	require.NoError(t, f.record(t, got[0], delivered, 200))
	require.NoError(t, f.record(t, got[1], delivered, 200), "its result was not recorded before")
}

func TestAnEventOfAnotherTenantIsMissing(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	a := f.sameEvent(t, []int32{1}, []int32{2})
	a.KeyIDs = []int32{1, 2}
	missing, err := f.Missing(t.Context(), []Event{a}, 2)
	require.NoError(t, err)
	require.Len(t, missing, 1)
	require.Equal(t, []int32{2}, missing[0].KeyIDs)
}
