package retention_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/retention"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestASweepTakesAllThatIsOldInBatches(t *testing.T) {
	pool := pgtest.New(t, store.Migrations())
	const old, young = 2500, 10
	_, err := pool.Exec(t.Context(), `
WITH made AS (
  INSERT INTO events (tenant_id, event_id, type, body, created_at)
  SELECT '0190aaaa-0000-7000-8000-000000000001', gen_random_uuid(), 'order.created', '', now()
    FROM generate_series(1, $1::int + $2::int)
  RETURNING tenant_id, event_id)
INSERT INTO deliveries (tenant_id, event_id, key_id, state, created_at, finished_at)
SELECT tenant_id, event_id, 1, 'DELIVERED', now(),
       now() - CASE WHEN row_number() OVER () <= $1::int THEN interval '25 hours' ELSE interval '23 hours' END
  FROM made`, old, young)
	require.NoError(t, err)

	w := &retention.Worker{Store: store.New(pool), Keep: 24 * time.Hour, Log: telemetry.Discard().Logger}
	require.NoError(t, w.Sweep(t.Context()))
	for _, table := range []string{"deliveries", "events"} {
		var left int
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&left))
		require.Equal(t, young, left, table)
	}
}
