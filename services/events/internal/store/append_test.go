package store

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	t.Run("events are in the order of the batch, exactly as recorded", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 200)
		require.Equal(t, Appended{Inserted: 200}, appendAt(t, s, today, batch(3, in)))
		rows := feedOf(t, s, tenantA)
		require.Equal(t, idsOf(in), ids(rows))
		for i, r := range rows {
			require.Equal(t, in[i].GetData(), r.Data)
			require.Equal(t, today, r.OccurredAt.UTC())
			require.Equal(t, Day(today), r.Position.Day.UTC())
			require.True(t, i == 0 || r.Position.Number > rows[i-1].Position.Number)
		}
	})

	t.Run("a batch that is delivered again has no effect", func(t *testing.T) {
		s := setup(t)
		first, second := changes(tenantA, 0, 5), changes(tenantA, 5, 5)
		appendAt(t, s, today, batch(0, first))
		appendAt(t, s, today, batch(0, second))
		before := feedOf(t, s, tenantA)
		require.Equal(t, Appended{}, appendAt(t, s, today, batch(0, first)))
		require.Equal(t, before, feedOf(t, s, tenantA))
		require.Equal(t, int64(10), nextOffset(t, s), "an old batch does not move the offset back")
	})

	t.Run("an event published twice is kept once, also after midnight", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 3)
		appendAt(t, s, today, batch(0, in))
		again := append([]Change{}, in...)
		for i := range again {
			again[i].Offset += 3
		}
		again = append(again, again[0], changes(tenantA, 7, 1)[0])
		again[3].Offset = 6
		require.Equal(t, Appended{Inserted: 1}, appendAt(t, s, today.AddDate(0, 0, 1), batch(0, again)))
		require.Equal(t, append(idsOf(in), again[4].GetEventId()), ids(feedOf(t, s, tenantA)))
		require.Equal(t, int64(8), nextOffset(t, s))
	})

	midnight := Day(today).AddDate(0, 0, 1)
	before, after := midnight.Add(-100*time.Millisecond), midnight.Add(100*time.Millisecond)

	t.Run("an event that another clock dates on the next day is kept once, also days later", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 2)
		in[0].RecordedAt = timestamppb.New(after)
		appendAt(t, s, before, batch(0, in[:1]))
		appendAt(t, s, after.AddDate(0, 0, 2), batch(0, in[1:]))
		again := []Change{{2, in[0].Change}}
		require.Equal(t, Appended{}, appendAt(t, s, after.AddDate(0, 0, 2), batch(0, again)))
		require.Equal(t, idsOf(in), ids(feedOf(t, s, tenantA)))
	})

	t.Run("an event of a clock that is days ahead is kept once, also after midnight", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 2)
		in[0].RecordedAt = timestamppb.New(today.AddDate(0, 0, 9))
		appendAt(t, s, before, batch(0, in[:1]))
		appendAt(t, s, after, batch(0, in[1:]))
		again := []Change{{2, in[0].Change}}
		require.Equal(t, Appended{}, appendAt(t, s, after, batch(0, again)))
		require.Equal(t, idsOf(in), ids(feedOf(t, s, tenantA)))
	})

	t.Run("a clock that jumps back does not move the feed's day back", func(t *testing.T) {
		s := setup(t)
		ahead, back := changes(tenantA, 0, 2), changes(tenantA, 2, 2)
		appendAt(t, s, today.AddDate(0, 0, 2), batch(0, ahead))
		fresh := New(s.pool) // Another process, which has not seen any partition yet.
		appendAt(t, fresh, today, batch(0, back))
		rows := feedOf(t, s, tenantA)
		require.Equal(t, idsOf(ahead, back), ids(rows))
		require.Equal(t, Day(today).AddDate(0, 0, 2), rows[3].Position.Day.UTC())
	})

	t.Run("unknown events below the stored offset are added, and the offset does not move back", func(t *testing.T) {
		s := setup(t)
		stored, lost := changes(tenantA, 0, 10), changes(tenantA, 0, 4)
		appendAt(t, s, today, batch(0, stored))
		require.Equal(t, Appended{Inserted: 4, Below: 4}, appendAt(t, s, today, batch(0, lost)))
		require.Equal(t, idsOf(stored, lost), ids(feedOf(t, s, tenantA)))
		require.Equal(t, int64(10), nextOffset(t, s))
	})

	t.Run("a batch that begins after the stored offset is refused, and others beside it are not", func(t *testing.T) {
		s := setup(t)
		in, other := changes(tenantA, 0, 9), changes(tenantB, 0, 3)
		appendAt(t, s, today, batch(0, in[:4]))
		batches := []*pendingBatch{{Batch: batch(0, in[5:])}, {Batch: batch(1, other)}, {Batch: batch(40, other)}}
		require.NoError(t, s.appendAll(t.Context(), batches))
		require.True(t, batches[0].refused)
		require.False(t, batches[1].refused)
		require.True(t, batches[2].refused, "a partition without an offset")
		require.Equal(t, idsOf(in[:4]), ids(feedOf(t, s, tenantA)))
		require.Equal(t, int64(4), nextOffset(t, s))
		require.Equal(t, idsOf(other), ids(feedOf(t, s, tenantB)))
		_, err := s.Append(t.Context(), batch(0, in[5:]))
		require.ErrorIs(t, err, kafka.ErrBeyondStored)
		require.Equal(t, Appended{Inserted: 5}, appendAt(t, s, today, batch(0, in[4:])))
	})

	t.Run("dropped events do not come back from Kafka", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 3)
		appendAt(t, s, today, batch(0, in))
		later := today.AddDate(0, 0, 40)
		_, err := at(later, s).DropOlder(t.Context(), retention)
		require.NoError(t, err)
		require.Equal(t, Appended{}, appendAt(t, s, later, batch(0, in)))
		require.Empty(t, feedOf(t, s, tenantA))
	})

	t.Run("a batch that the database refuses stores nothing, and is isolated from others", func(t *testing.T) {
		s := setup(t)
		in := changes(tenantA, 0, 3)
		known := in[2].GetType()
		in[2].Type = "no text: \x00"
		_, err := s.Append(t.Context(), batch(0, in))
		require.Error(t, err)
		require.True(t, s.appends.Isolate(err))
		require.Empty(t, feedOf(t, s, tenantA))
		in[2].Type = known
		require.Equal(t, Appended{Inserted: 3}, appendAt(t, s, today, batch(0, in)))
	})
}

// TestReaderBesideWriters reads two tenants' feeds while two partitions take positions from the same sequence. A reader that
// continues after the last position it saw must miss nothing.
func TestReaderBesideWriters(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const size, batches = 5, 60
	in := map[string][]Change{tenantA: changes(tenantA, 0, size*batches), tenantB: changes(tenantB, 0, size*batches)}
	partition := map[string]int{tenantA: 0, tenantB: 1}
	var writers, readers sync.WaitGroup
	errs := make(chan error, 4)
	got := map[string]*[]string{tenantA: {}, tenantB: {}}
	for tenant, c := range in {
		writers.Go(func() {
			for at := 0; at < len(c); at += size {
				if _, err := s.Append(t.Context(), batch(partition[tenant], c[at:at+size])); err != nil {
					errs <- err
					return
				}
			}
		})
		readers.Go(func() {
			var after Position
			deadline := time.Now().Add(30 * time.Second)
			for len(*got[tenant]) < len(c) && time.Now().Before(deadline) {
				rows, _, err := s.Scan(t.Context(), tenant, after, all, 3)
				if err != nil {
					errs <- err
					return
				}
				for _, r := range rows {
					after = r.Position
					*got[tenant] = append(*got[tenant], r.ID)
				}
			}
		})
	}
	writers.Wait()
	readers.Wait()
	require.Empty(t, errs)
	require.Equal(t, idsOf(in[tenantA]), *got[tenantA])
	require.Equal(t, idsOf(in[tenantB]), *got[tenantB])
}

func nextOffset(t *testing.T, s *Store) int64 {
	t.Helper()
	return pgtest.Value[int64](t, s.pool, "SELECT next_offset FROM feed_writers WHERE kafka_partition = 0")
}

// Two instances receive the messages of all partitions concurrently, as after a rebalance that one of them has not noticed.
func TestConcurrentBatchesOfManyPartitionsAreAppendedOnceAndInOrder(t *testing.T) {
	t.Parallel()
	one := setup(t)
	two := at(today, New(one.pool))
	const partitions, batches, each = 12, 20, 3
	tenants := make([]string, partitions)
	expected := make([][]Change, partitions)
	var group errgroup.Group
	for p := range partitions {
		tenants[p] = uuid.NewString()
		expected[p] = changes(tenants[p], 0, batches*each)
		for _, s := range []*Store{one, two} {
			group.Go(func() error {
				for n := range batches {
					part := expected[p][n*each : (n+1)*each]
					if _, err := s.Append(t.Context(), batch(p, part)); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	require.NoError(t, group.Wait())
	for p := range partitions {
		require.Equal(t, idsOf(expected[p]), ids(feedOf(t, one, tenants[p])))
	}
	require.Equal(t, int64(batches*each), nextOffset(t, one))
}

func TestTwoBatchesOfOnePartitionAreAppendedOneAfterAnother(t *testing.T) {
	t.Parallel()
	s := setup(t)
	c := changes(tenantA, 0, 4)
	batches := []*pendingBatch{
		{Batch: batch(1, c[:3])},
		{Batch: batch(1, c[1:])},
	}
	require.NoError(t, s.appendAll(t.Context(), batches))
	require.Equal(t, Appended{Inserted: 3}, batches[0].done)
	require.Equal(t, Appended{Inserted: 1}, batches[1].done)
	require.Equal(t, idsOf(c), ids(feedOf(t, s, tenantA)))
}
