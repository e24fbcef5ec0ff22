package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestTheDayIsTheDatabases(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t, Migrations()))
	databaseDay := func() (day time.Time) {
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date").Scan(&day))
		return day
	}
	before := databaseDay()
	old := before.AddDate(0, 0, -3)
	require.NoError(t, at(old, New(s.pool)).EnsureDays(t.Context(), 1))

	in := changes(tenantA, 0, 1)
	_, err := s.Append(t.Context(), batch(0, in))
	require.NoError(t, err)
	require.NoError(t, s.EnsureDays(t.Context(), 1))
	dropped, err := s.DropOlder(t.Context(), 24*time.Hour)
	require.NoError(t, err)
	today := []time.Time{before, databaseDay()} // It may be midnight.

	require.Equal(t, []time.Time{old}, dropped)
	for _, day := range partitions(t, s) {
		require.Contains(t, today, day)
	}
	require.Contains(t, today, feedOf(t, s, tenantA)[0].Position.Day.UTC())
}
