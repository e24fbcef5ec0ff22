package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// TestAppendingReadsTheNewestVersionOfARow keeps a snapshot open while a busy tenant's rows are updated all the time.
func TestAppendingReadsTheNewestVersionOfARow(t *testing.T) {
	t.Parallel()
	const updates, few = 3000, 15
	url := pgtest.NewURL(t, Migrations())
	pgtest.HoldSnapshot(t, url)
	pool, err := postgres.OpenObserved(t.Context(), postgres.Config{URL: url, MaxConns: 1}, telemetrytest.New().Telemetry,
		postgres.ByIndex, postgres.PlanOnce)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := at(today, New(pool))
	require.NoError(t, s.CheckPartitions(t.Context(), 1))
	require.NoError(t, Offsets{s}.Move(t.Context(), 0, nothingStored, 0))
	var next int64
	add := func() {
		_, err := s.Append(t.Context(), batch(0, changes(tenantA, next, 1)))
		require.NoError(t, err)
		next++
	}
	for range updates {
		add()
	}
	for _, table := range []string{"feed_writers", "feed_tenants"} {
		require.Less(t, pgtest.Pages(t, pool, table, add), few, table)
		require.Less(t, pgtest.Pages(t, pool, table, func() {
			offsets, err := s.NextOffsets(t.Context())
			require.NoError(t, err)
			require.Equal(t, map[int]int64{0: next}, offsets)
			b, err := s.Bounds(t.Context(), tenantA, 0)
			require.NoError(t, err)
			require.Equal(t, next, b.Last)
		}), few, table)
		require.Greater(t, pgtest.Pages(t, pool, table, func() {
			pgtest.Exec(t, pool, "SELECT FROM "+table)
		}), few, "the old versions are there: a plain read reads them")
	}
}
