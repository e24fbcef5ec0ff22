package store_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const keep = 24 * time.Hour

// finish claims what is due and records it as delivered.
func finish(t *testing.T, w *world, at time.Time) {
	t.Helper()
	for _, d := range claim(t, w, at, 100, 100) {
		delivered := rules.Verdict{State: rules.Delivered, Counted: true}
		require.NoError(t, record(t, w.Store, d, delivered, store.Attempt{StartedAt: at, Outcome: rules.Answered(200)}))
	}
}

func (w *world) count(t *testing.T, table string) (n int) {
	t.Helper()
	require.NoError(t, w.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

func (w *world) delete(t *testing.T, limit int) int {
	t.Helper()
	deleted, err := w.DeleteFinished(t.Context(), keep, limit)
	require.NoError(t, err)
	return deleted
}

func TestFinishedDeliveriesAreDeletedAfterTheirTime(t *testing.T) {
	w := setup(t)
	add(t, w, tenantA, now(), 1, 2)
	add(t, w, tenantB, now(), 3)
	finish(t, w, now())
	add(t, w, tenantA, now(), 1) // Never sent.

	w.at(now().Add(keep))
	require.Zero(t, w.delete(t, 100), "kept for the whole of their time")
	w.at(now().Add(keep + time.Microsecond))
	require.Equal(t, 2, w.delete(t, 2), "no more than asked for")
	require.Equal(t, 1, w.delete(t, 2))
	require.Zero(t, w.delete(t, 2))
	require.Equal(t, 1, w.count(t, "deliveries"), "what is pending stays")
	require.Equal(t, 1, w.count(t, "events"))
	require.Zero(t, w.count(t, "attempts"))
}

func TestAnEventStaysWhileADeliveryNeedsIt(t *testing.T) {
	w := setup(t)
	add(t, w, tenantA, now(), 1, 2)
	require.NoError(t, w.Pause(t.Context(), []store.Endpoint{{TenantID: tenantA, KeyID: 2}}, keep))
	finish(t, w, now())

	w.at(now().Add(keep + time.Minute))
	require.Equal(t, 1, w.delete(t, 100))
	require.Equal(t, 1, w.count(t, "events"))
	finish(t, w, now().Add(keep+time.Minute))
	require.Equal(t, 1, w.count(t, "attempts"), "it could still be sent")

	w.at(now().Add(2*keep + 2*time.Minute))
	require.Equal(t, 1, w.delete(t, 100))
	require.Zero(t, w.count(t, "events"))
}

func TestOneInstanceDeletesAtATime(t *testing.T) {
	w := setup(t)
	add(t, w, tenantA, now(), 1)
	finish(t, w, now())
	w.at(now().Add(2 * keep))
	err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", store.RetentionLock)
		require.Zero(t, w.delete(t, 100), "another is at it")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, 1, w.delete(t, 100))
}

// The delivery is sent again while its deletion waits for its row.
func TestADeliveryThatIsSentAgainMeanwhileStays(t *testing.T) {
	w := setup(t)
	id := add(t, w, tenantA, now(), 1)
	finish(t, w, now())
	w.at(now().Add(2 * keep))
	deleted := make(chan int, 1)
	require.NoError(t, pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE deliveries
SET state = 'PENDING', attempts = 0, attempts_before = attempts, next_attempt_at = $1, finished_at = NULL`, w.time)
		go func() {
			n, _ := w.DeleteFinished(t.Context(), keep, 100)
			deleted <- n
		}()
		require.Eventually(t, func() bool {
			var waits bool
			return w.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits) == nil && waits
		}, 10*time.Second, time.Millisecond)
		return err
	}))
	require.Zero(t, <-deleted)
	require.Equal(t, 1, w.count(t, "attempts"))
	require.Equal(t, id, claim(t, w, w.time, 1, 1)[0].EventID)
}
