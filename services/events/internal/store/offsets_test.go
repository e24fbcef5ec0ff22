package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

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
		require.NoError(t, o.Move(t.Context(), 0, 9, 2))
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
