package store

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

func TestFinishedDeliveriesAreDeletedAfterTheirRetention(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1, 2)
	f.addEvent(t, tenantB, noon, 3)
	f.deliverDue(t, noon)
	f.addEvent(t, tenantA, noon, 1) // It is never sent.

	f.now = noon.Add(retention)
	require.Zero(t, f.deleteFinished(t, 100), "kept for the whole retention")
	f.now = noon.Add(retention + time.Microsecond)
	var batches []int
	require.NoError(t, daemon.InBatches(t.Context(), 2, func(_ context.Context, limit int) (int, error) {
		batches = append(batches, f.deleteFinished(t, limit))
		return batches[len(batches)-1], nil
	}))
	require.Equal(t, []int{2, 1}, batches)
	require.Equal(t, 1, f.count(t, "deliveries"), "the pending one stays")
	require.Equal(t, 1, f.count(t, "events"))
	require.Zero(t, f.count(t, "attempts"))
}

func TestAnEventStaysWhileADeliveryNeedsIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1, 2)
	_, err := f.pool.Exec(t.Context(), `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
SELECT $1, event_id, type, brand_id, subject_id, body, created_at FROM events WHERE tenant_id = $2`, tenantB, tenantA)
	require.NoError(t, err)
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{TenantID: tenantA, KeyID: 2}}, retention))
	f.deliverDue(t, noon)

	f.now = noon.Add(retention + time.Minute)
	require.Equal(t, 1, f.deleteFinished(t, 100))
	require.Equal(t, 2, f.count(t, "events"))
	f.deliverDue(t, noon.Add(retention+time.Minute))
	require.Equal(t, 1, f.count(t, "attempts"), "the paused delivery could still be sent")

	f.now = noon.Add(2*retention + 2*time.Minute)
	require.Equal(t, 1, f.deleteFinished(t, 100))
	require.Equal(t, 1, f.count(t, "events"), "another tenant has an event with the same id")
}

func TestOneInstanceDeletesAtATime(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1)
	f.deliverDue(t, noon)
	f.now = noon.Add(2 * retention)
	err := pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", int64(retentionLock))
		require.Zero(t, f.deleteFinished(t, 100), "another instance deletes")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, 1, f.deleteFinished(t, 100))
}

// The transaction resends the delivery, as Resend does, and holds the row until the deletion waits for it.
func TestADeliveryThatIsResentDuringItsDeletionStays(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	id := f.addEvent(t, tenantA, noon, 1)
	f.deliverDue(t, noon)
	f.now = noon.Add(2 * retention)
	deleted := make(chan int, 1)
	require.NoError(t, pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE deliveries
SET state = 'PENDING', attempts = 0, attempts_before = attempts, next_attempt_at = $1, finished_at = NULL`, f.now)
		go func() {
			n, _, _ := f.DeleteFinished(t.Context(), retention, time.Time{}, 100)
			deleted <- n
		}()
		require.Eventually(t, func() bool {
			var waits bool
			return f.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits) == nil && waits
		}, 30*time.Second, time.Millisecond)
		return err
	}))
	require.Zero(t, <-deleted)
	require.Equal(t, 1, f.count(t, "attempts"))
	require.Equal(t, id, f.claim(t, f.now, 1, 1)[0].EventID)
}
