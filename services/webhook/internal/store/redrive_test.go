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
		_, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", int64(retentionLock))
		require.NoError(t, err)
		go func() {
			_, err := f.FanOut(t.Context(), 2, []Event{anEvent(id, 2)})
			stored <- err
		}()
		require.Eventually(t, func() bool {
			var waits bool
			return f.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted)`).Scan(&waits) == nil && waits
		}, 30*time.Second, time.Millisecond)
		_, err = tx.Exec(t.Context(), "DELETE FROM deliveries")
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "DELETE FROM events")
		return err
	}))
	require.NoError(t, <-stored)
	require.Equal(t, 1, f.count(t, "events"))
	require.Equal(t, 1, f.count(t, "deliveries"))
}
