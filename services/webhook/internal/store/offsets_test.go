package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

// messages are n messages of partition 0 from an offset on, with one event.
func messages(first, n int64) (Messages, []Event) {
	e := anEvent(newID(), 1)
	return Messages{First: first, Next: first + n, LastID: e.ID, LastTime: noon}, []Event{e}
}

func (f *fixture) stored(t *testing.T, reached int64) kafka.Stored {
	t.Helper()
	stored, err := Offsets{f.Store}.Stored(t.Context(), 0, reached)
	require.NoError(t, err)
	if !stored.LastTime.IsZero() {
		stored.LastTime = stored.LastTime.UTC()
	}
	return stored
}

func TestStoredOffsets(t *testing.T) {
	t.Parallel()
	t.Run("begin where the group has committed, once", func(t *testing.T) {
		f := setup(t)
		f.addEvent(t, tenantA, noon, 1)
		require.Equal(t, kafka.Stored{Next: 70}, f.stored(t, 70))
		require.Equal(t, kafka.Stored{Next: 70}, f.stored(t, 90))
	})

	t.Run("are reported once if the database was made anew", func(t *testing.T) {
		f := setup(t)
		require.Equal(t, kafka.Stored{Next: 70, Emptied: true}, f.stored(t, 70))
		require.Equal(t, kafka.Stored{Next: 70}, f.stored(t, 70))
		stored, err := Offsets{f.Store}.Stored(t.Context(), 1, 0)
		require.NoError(t, err)
		require.Equal(t, kafka.Stored{}, stored, "nothing had been read")
	})

	t.Run("are not changed by a read that does not know what the group has committed", func(t *testing.T) {
		f := setup(t)
		require.Equal(t, kafka.Stored{Next: -1}, f.stored(t, -1))
		require.Equal(t, kafka.Stored{Next: 70, Emptied: true}, f.stored(t, 70))
		require.Equal(t, kafka.Stored{Next: 70}, f.stored(t, -1))
		require.ErrorIs(t, Offsets{f.Store}.Move(t.Context(), 0, -1, 80), errMoved)
		require.ErrorIs(t, Offsets{f.Store}.Move(t.Context(), 1, 70, 80), errMoved)
		require.NoError(t, Offsets{f.Store}.Move(t.Context(), 0, 70, 3_000_000_000))
		require.NoError(t, Offsets{f.Store}.Move(t.Context(), 0, 3_000_000_000, 70))
	})

	t.Run("begin at the oldest message if the group has not committed", func(t *testing.T) {
		f := setup(t)
		require.Equal(t, kafka.Stored{Next: -1}, f.stored(t, -2))
		m, events := messages(4, 2)
		require.ErrorIs(t, f.storeMessages(t, m, events), kafka.ErrBeyondStored)
		require.NoError(t, Offsets{f.Store}.Move(t.Context(), 0, -1, 4))
		require.ErrorIs(t, Offsets{f.Store}.Move(t.Context(), 0, -1, 0), errMoved)
		require.NoError(t, f.storeMessages(t, m, events))
		require.Equal(t, kafka.Stored{Next: 6, LastID: m.LastID, LastTime: noon}, f.stored(t, 6))
	})

	t.Run("move in the transaction that stores the deliveries, and never back", func(t *testing.T) {
		f := setup(t)
		f.stored(t, 0)
		first, events := messages(0, 5)
		require.NoError(t, f.storeMessages(t, first, events))
		second, none := messages(5, 3)
		none[0].KeyIDs = nil
		require.NoError(t, f.storeMessages(t, second, nil), "messages without receivers")
		require.NoError(t, f.storeMessages(t, first, events), "again")
		old, more := messages(1, 2)
		require.NoError(t, f.storeMessages(t, old, more), "from a consumer that has lost the partition")
		require.Equal(t, kafka.Stored{Next: 8, LastID: second.LastID, LastTime: noon}, f.stored(t, 8))
		require.Equal(t, 2, f.count(t, "deliveries"))
	})

	t.Run("refuse messages that begin after them, and not those of other partitions", func(t *testing.T) {
		f := setup(t)
		f.stored(t, 0)
		_, err := Offsets{f.Store}.Stored(t.Context(), 1, 9)
		require.NoError(t, err)
		hole, lost := messages(3, 1)
		other, events := messages(9, 1)
		other.Partition = 1
		next, more := messages(0, 3)
		batches := []*batch{
			{messages: &hole, events: lost}, {messages: &other, events: events}, {messages: &next, events: more},
		}
		require.NoError(t, f.fanOut(t.Context(), batches))
		require.Equal(t, []bool{true, false, false}, []bool{batches[0].beyondStored, batches[1].beyondStored, batches[2].beyondStored})
		require.Equal(t, 2, f.count(t, "deliveries"))
		require.Equal(t, kafka.Stored{Next: 3, LastID: next.LastID, LastTime: noon}, f.stored(t, 3))
		require.NoError(t, f.storeMessages(t, hole, lost))
		require.Equal(t, 3, f.count(t, "deliveries"))
	})
}

func TestOnlyMessagesDoNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	pgtest.Exec(t, f.pool, `CREATE TABLE seen (waits text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
CREATE TRIGGER note AFTER INSERT ON events EXECUTE FUNCTION note()`)
	f.stored(t, 0)
	waits := func() string { return pgtest.Value[string](t, f.pool, "DELETE FROM seen RETURNING waits") }

	m, events := messages(0, 1)
	require.NoError(t, f.storeMessages(t, m, events))
	require.Equal(t, "off", waits(), "messages are read again")

	f.addEvent(t, tenantA, noon, 1)
	require.Equal(t, "on", waits(), "nothing else brings the events again")

	m, events = messages(1, 1)
	_, more := messages(0, 1)
	require.NoError(t, f.fanOut(t.Context(), []*batch{{messages: &m, events: events}, {events: more}}))
	require.Equal(t, "on", waits(), "both in one transaction")
}

func TestDurableWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.stored(t, 0)
	const flushed = "SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn"
	for first := range int64(5) {
		m, events := messages(first, 1)
		require.NoError(t, f.storeMessages(t, m, events))
		end := pgtest.Value[string](t, f.pool, "SELECT pg_current_wal_insert_lsn()::text")
		require.NoError(t, Offsets{f.Store}.Durable(t.Context()))
		require.True(t, pgtest.Value[bool](t, f.pool, flushed, end))
	}
}
