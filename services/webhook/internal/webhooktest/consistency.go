package webhooktest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// inconsistent selects rows that must not exist. The tables have no constraints against them, because the checks took a third
// of the time of the statements.
const inconsistent = `
SELECT 'delivery ' || d.key_id || ' of ' || d.event_id FROM deliveries d
 WHERE d.state NOT IN ('PENDING', 'DELIVERED', 'FAILED', 'DROPPED')
    OR d.attempts NOT BETWEEN 0 AND 8 OR d.attempts_before NOT BETWEEN 0 AND 30000
    -- It is due while it is pending, and finished when it is not.
    OR (d.state = 'PENDING') <> (d.next_attempt_at IS NOT NULL)
    OR (d.state = 'PENDING') <> (d.finished_at IS NULL)
    OR (d.state <> 'PENDING' AND d.lease_token IS NOT NULL)
    OR NOT EXISTS (SELECT FROM events e WHERE e.tenant_id = d.tenant_id AND e.event_id = d.event_id)
UNION ALL
SELECT 'attempt ' || a.number || ' of ' || a.event_id FROM attempts a
 WHERE octet_length(a.response_body) > 1024
    OR NOT EXISTS (
      SELECT FROM deliveries d WHERE d.tenant_id = a.tenant_id AND d.event_id = a.event_id AND d.key_id = a.key_id)`

// RequireConsistentRows checks, when the test ends, that no statement has left inconsistent rows.
func RequireConsistentRows(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	t.Cleanup(func() {
		rows, err := pool.Query(context.Background(), inconsistent)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
