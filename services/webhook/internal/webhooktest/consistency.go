package webhooktest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
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
      SELECT FROM deliveries d WHERE d.tenant_id = a.tenant_id AND d.event_id = a.event_id AND d.key_id = a.key_id)
UNION ALL
SELECT 'attempt ' || a.number || ' of ' || a.event_id FROM attempts a JOIN deliveries d USING (tenant_id, event_id, key_id)
 WHERE a.number NOT BETWEEN 1 AND d.attempts_before + d.attempts AND a.tenant_id <> $1
UNION ALL
-- The newest before it was sent again, those since then, and three that show the health of the endpoint.
SELECT 'log of ' || a.event_id || ' with ' || count(*) FROM attempts a
 WHERE a.tenant_id <> $1 GROUP BY a.tenant_id, a.event_id, a.key_id HAVING count(*) > 8 + 8 + 3`

// RequireConsistentRows checks, when the test ends, that no statement has left inconsistent rows.
func RequireConsistentRows(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	t.Cleanup(func() {
		rows, err := pool.Query(context.Background(), inconsistent, pgtest.TwinTenant)
		require.NoError(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
