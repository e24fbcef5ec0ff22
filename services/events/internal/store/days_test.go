package store

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestDays(t *testing.T) {
	t.Parallel()
	t.Run("coming days are created once, whichever instance is first", func(t *testing.T) {
		s := setup(t)
		var wait sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			wait.Go(func() { errs[i] = at(today, New(s.pool)).EnsureDays(t.Context(), 3) })
		}
		wait.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		require.Len(t, partitions(t, s), 3)
	})

	t.Run("a dropped day is recorded only for tenants with events in it", func(t *testing.T) {
		s := setup(t)
		appendAt(t, s, today, batch(0, changes(tenantA, 0, 2)))
		appendAt(t, s, today, batch(1, changes(tenantB, 0, 1)))
		appendAt(t, s, today.AddDate(0, 0, 1), batch(0, changes(tenantA, 2, 1)))
		appendAt(t, s, today.AddDate(0, 0, 5), batch(0, changes(tenantA, 3, 1)))
		before := feedOf(t, s, tenantA)

		dropped, err := at(today.AddDate(0, 0, 2), s).DropOlder(t.Context(), 0)
		require.NoError(t, err)
		require.Len(t, dropped, 2)
		require.Len(t, partitions(t, s), 1)
		require.Equal(t, before[3:], feedOf(t, s, tenantA))

		epoch := before[0].Position.Epoch
		a, err := s.Bounds(t.Context(), tenantA, epoch)
		require.NoError(t, err)
		require.Equal(t, Bounds{
			Last: before[3].Position.Number, Dropped: before[2].Position.Number, Epoch: epoch, Survived: math.MaxInt64,
		}, a)
		b, err := s.Bounds(t.Context(), tenantB, 0)
		require.NoError(t, err)
		require.Equal(t, b.Last, b.Dropped)
		require.Positive(t, b.Last)
		none, err := s.Bounds(t.Context(), brand, epoch)
		require.NoError(t, err)
		require.Equal(t, Bounds{Epoch: epoch, Survived: math.MaxInt64}, none)
	})

	t.Run("what is retained for at least a day more is dropped after that", func(t *testing.T) {
		s := setup(t)
		from, err := s.RetainedFrom(t.Context(), retention)
		require.NoError(t, err)
		appendAt(t, s, from.Add(-time.Second), batch(0, changes(tenantA, 0, 1)))
		appendAt(t, s, from, batch(0, changes(tenantA, 1, 1)))
		for days, left := range []int{2, 1, 0} {
			_, err = at(today.AddDate(0, 0, days), s).DropOlder(t.Context(), retention)
			require.NoError(t, err)
			require.Len(t, feedOf(t, s, tenantA), left)
		}
	})

	t.Run("days that are gone after the database was set back are created again", func(t *testing.T) {
		s := setup(t)
		require.NoError(t, s.EnsureDays(t.Context(), 2))
		for i := range 2 {
			pgtest.Exec(t, s.pool, "DROP TABLE "+dayTable(Day(today).AddDate(0, 0, i)))
		}
		appendAt(t, s, today, batch(0, changes(tenantA, 0, 1)))
		require.Len(t, feedOf(t, s, tenantA), 1)
		require.NoError(t, s.EnsureDays(t.Context(), 2))
		require.Len(t, partitions(t, s), 2)
	})

	t.Run("a scan reports events that were dropped before it", func(t *testing.T) {
		s := setup(t)
		appendAt(t, s, today, batch(0, changes(tenantA, 0, 2)))
		appendAt(t, s, today.AddDate(0, 0, 3), batch(0, changes(tenantA, 2, 1)))
		begin := feedOf(t, s, tenantA)[0].Position
		_, err := at(today.AddDate(0, 0, 1), s).DropOlder(t.Context(), 0)
		require.NoError(t, err)
		rows, ends, err := s.Scan(t.Context(), tenantA, begin, all, 10)
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Greater(t, ends.Dropped, begin.Number)
	})
}

func TestTheDayIsThatOfTheDatabasesClock(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t, Migrations()))
	databaseDay := func() time.Time {
		return pgtest.Value[time.Time](t, s.pool, "SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date")
	}
	before := databaseDay()
	old := before.AddDate(0, 0, -3)
	require.NoError(t, at(old, New(s.pool)).EnsureDays(t.Context(), 1))

	in := changes(tenantA, 0, 1)
	require.NoError(t, Offsets{s}.Move(t.Context(), 0, nothingStored, 0))
	_, err := s.Append(t.Context(), batch(0, in))
	require.NoError(t, err)
	require.NoError(t, s.EnsureDays(t.Context(), 1))
	dropped, err := s.DropOlder(t.Context(), 24*time.Hour)
	require.NoError(t, err)
	today := []time.Time{before, databaseDay()} // The day may have changed in between.

	require.Equal(t, []time.Time{old}, dropped)
	for _, day := range partitions(t, s) {
		require.Contains(t, today, day)
	}
	require.Contains(t, today, feedOf(t, s, tenantA)[0].Position.Day.UTC())
}
