package store

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func epochOf(t *testing.T, s *Store) int64 {
	t.Helper()
	number, err := s.Epoch(t.Context())
	require.NoError(t, err)
	return number
}

// epochID returns the name of the current epoch in cursors.
func epochID(t *testing.T, s *Store) int64 {
	t.Helper()
	b, err := s.Bounds(t.Context(), tenantA, 0)
	require.NoError(t, err)
	return b.Epoch
}

// checked opens a pool as the service does.
func checked(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pc, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	CheckServer(pc)
	pool, err := pgxpool.NewWithConfig(t.Context(), pc)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func TestAnotherDatabaseBeginsOneEpochHoweverManyConnectionsFindOut(t *testing.T) {
	t.Parallel()
	url := pgtest.NewURL(t)
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: url}, io.Discard, Migrations()))
	first := checked(t, url)
	before := epochOf(t, New(first))
	first.Close()
	restore := pgtest.Backup(t, url)
	restore()

	const connections = 12
	var group errgroup.Group
	for range connections {
		pool := checked(t, url)
		group.Go(func() error { return pool.Ping(context.Background()) })
	}
	require.NoError(t, group.Wait())
	require.Equal(t, before+1, epochOf(t, New(checked(t, url))))
}

func TestTheFirstStartAfterTheMigrationBeginsNoEpoch(t *testing.T) {
	t.Parallel()
	url := pgtest.NewURL(t)
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: url}, io.Discard, Migrations()))
	require.EqualValues(t, 1, epochOf(t, New(checked(t, url))))
}

func TestAnEpochOfAFeedWithoutEventsHasNoPositionThatSurvived(t *testing.T) {
	t.Parallel()
	s := setup(t)
	first := epochID(t, s)
	require.NoError(t, s.beginEpoch(t.Context(), "test"))
	b, err := s.Bounds(t.Context(), tenantA, first)
	require.NoError(t, err)
	require.Zero(t, b.Survived)
	appendAt(t, s, today, batch(0, changes(tenantA, 0, 1)))
	require.Positive(t, feedOf(t, s, tenantA)[0].Position.Number)
}

// Positions that were taken before an epoch begins must be visible before it, and those taken later must be greater than what
// survived: otherwise a cursor of the earlier epoch could skip an event.
func TestAnEpochBeginsBetweenAppends(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const size, batches, epochs = 3, 40, 10
	first := epochID(t, s)
	in := changes(tenantA, 0, size*batches)
	var group errgroup.Group
	group.Go(func() error {
		for from := 0; from < len(in); from += size {
			if _, err := s.Append(t.Context(), batch(0, in[from:from+size])); err != nil {
				return err
			}
		}
		return nil
	})
	group.Go(func() error {
		for i := range epochs {
			if err := s.beginEpoch(t.Context(), fmt.Sprint("test ", i)); err != nil {
				return err
			}
			b, err := s.Bounds(t.Context(), tenantA, first)
			if err != nil {
				return err
			}
			rows, ends, err := s.Scan(t.Context(), tenantA, Position{Epoch: first}, all, len(in))
			if err != nil {
				return err
			}
			for _, r := range rows {
				if r.Position.Number <= b.Survived && !ends.Holds(Position{Epoch: first, Number: r.Position.Number}) {
					return fmt.Errorf("position %d does not hold in %+v", r.Position.Number, ends)
				}
			}
		}
		return nil
	})
	group.Go(func() error {
		// A reader that polls, without ever seeing an epoch's cursor refused: nothing was lost.
		var after Position
		for seen := 0; seen < len(in); {
			b, err := s.Bounds(t.Context(), tenantA, after.Epoch)
			if err != nil {
				return err
			}
			if !b.Holds(after) {
				return fmt.Errorf("cursor %+v is refused by %+v", after, b)
			}
			rows, _, err := s.Scan(t.Context(), tenantA, after, all, 5)
			if err != nil {
				return err
			}
			for _, r := range rows {
				after = r.Position
			}
			seen += len(rows)
		}
		return nil
	})
	require.NoError(t, group.Wait())
	require.Equal(t, int64(1+epochs), epochOf(t, s))
}

func TestStoredOffsets(t *testing.T) {
	t.Parallel()
	t.Run("are those of the last append, with its last event", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 5)
		b := batch(3, in)
		b.LastTime = today.Add(time.Second)
		appendAt(t, s, today, b)
		stored, err := Offsets{s}.Stored(t.Context(), 3, 5)
		require.NoError(t, err)
		stored.LastTime = stored.LastTime.UTC()
		require.Equal(t, kafka.Stored{Next: 5, LastID: in[4].GetEventId(), LastTime: b.LastTime}, stored)
		require.Equal(t, int64(1), epochOf(t, s))
	})

	t.Run("of a partition that was never read are negative until they are moved to its oldest message", func(t *testing.T) {
		s := at(today, New(pgtest.New(t, Migrations())))
		o := Offsets{s}
		stored, err := o.Stored(t.Context(), 0, -2)
		require.NoError(t, err)
		require.Negative(t, stored.Next)
		_, err = s.Append(t.Context(), batch(0, changes(tenantA, 0, 1)))
		require.ErrorIs(t, err, kafka.ErrBeyondStored)
		require.ErrorIs(t, o.Move(t.Context(), 0, 3, 7), errMoved)
		require.NoError(t, o.Move(t.Context(), 0, stored.Next, 7))
		require.ErrorIs(t, o.Move(t.Context(), 0, stored.Next, 8), errMoved, "by another instance")
		appendAt(t, s, today, batch(0, changes(tenantA, 7, 2)))
		require.Equal(t, int64(9), nextOffset(t, s))
		require.NoError(t, o.Move(t.Context(), 0, 9, 3_000_000_000))
		require.NoError(t, o.Move(t.Context(), 0, 3_000_000_000, 2))
		require.Equal(t, int64(2), nextOffset(t, s))
		require.Equal(t, int64(1), epochOf(t, s))
	})

	t.Run("that are less than the partition had reached begin an epoch", func(t *testing.T) {
		s := setup(t)
		appendAt(t, s, today, batch(0, changes(tenantA, 0, 5)))
		last := feedOf(t, s, tenantA)[4].Position
		stored, err := Offsets{s}.Stored(t.Context(), 0, 9)
		require.NoError(t, err)
		require.EqualValues(t, 5, stored.Next)
		require.Equal(t, int64(2), epochOf(t, s))
		b, err := s.Bounds(t.Context(), tenantA, last.Epoch)
		require.NoError(t, err)
		require.Equal(t, last.Number, b.Survived)
		require.NotEqual(t, last.Epoch, b.Epoch)
	})
}

func TestTheNumberOfPartitionsNeverChanges(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.NoError(t, s.CheckPartitions(t.Context(), 12))
	require.NoError(t, s.CheckPartitions(t.Context(), 12))
	require.ErrorIs(t, s.CheckPartitions(t.Context(), 13), kafka.ErrPartitionsChanged)
}
