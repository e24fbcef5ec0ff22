package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
)

// writers holds the locked rows of some partitions and the values read while they were locked.
type writers struct {
	// stored is how far each partition has been stored.
	stored map[int]kafka.Stored
	// lastDay is the latest of all partitions: events are never inserted on an earlier day.
	lastDay time.Time
	// now is the time after locking.
	now time.Time
	// known are the ids of events in the batches that the feed already has.
	known map[string]bool
}

func newWriters(partitions int) *writers {
	return &writers{stored: make(map[int]kafka.Stored, partitions), known: map[string]bool{}}
}

// writerOf selects columns of a partition's row, which every append updates.
func writerOf(partition, columns string) string {
	return postgres.NewestVersion(columns, "feed_writers", "kafka_partition", partition)
}

// The order is fixed, so that transactions do not deadlock.
var lockWriterRows = `SELECT w.* FROM (SELECT partition FROM unnest($1::int[]) AS u (partition) ORDER BY partition) p
 CROSS JOIN LATERAL (` + writerOf("p.partition", "kafka_partition, last_day, "+storedColumns) + ` FOR UPDATE) w`

func partitionsOf(batches []*pendingBatch) []int {
	return postgres.Column(batches, func(b *pendingBatch) int { return b.Partition })
}

// queueLock locks the batches' writers and then reads into w.
func (s *Store) queueLock(b *pgx.Batch, batches []*pendingBatch, w *writers) {
	b.Queue(lockWriterRows, partitionsOf(batches)).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			var (
				partition int
				last      time.Time
				stored    kafka.Stored
			)
			if err := scanStored(rows, &stored, &partition, &last); err != nil {
				return err
			}
			w.stored[partition] = stored
			if last.After(w.lastDay) {
				w.lastDay = last
			}
		}
		return rows.Err()
	})
	s.queueKnown(b, batches, w)
}

// queueKnown reads the clock, after the locks, for which the transaction may have waited, and the events that the feed has.
func (s *Store) queueKnown(b *pgx.Batch, batches []*pendingBatch, w *writers) {
	ids, from := idsAndFirstDay(batches)
	b.Queue(knownIDs, ids, from, partitionsOf(batches), s.nowOverride()).Query(func(rows pgx.Rows) error {
		var (
			id  *string
			now *time.Time
		)
		_, err := pgx.ForEachRow(rows, []any{&id, &now}, func() error {
			if id == nil {
				w.now = *now
			} else {
				w.known[*id] = true
			}
			return nil
		})
		return err
	})
}

// Partitions of which nothing has been stored have no row.
var storedOffsets = `SELECT w.*
  FROM feed_topic t
 CROSS JOIN generate_series(0, t.partitions - 1) AS p (partition)
 CROSS JOIN LATERAL (` + writerOf("p.partition", "kafka_partition, "+storedColumns) + `) w`

// StoredOffsets returns how far each partition has been stored.
func (s *Store) StoredOffsets(ctx context.Context) (map[int]kafka.Stored, error) {
	rows, err := s.pool.Query(ctx, storedOffsets)
	if err != nil {
		return nil, fmt.Errorf("read offsets of feed: %w", err)
	}
	stored, err := collectStored(rows)
	if err != nil {
		return nil, fmt.Errorf("read offsets of feed: %w", err)
	}
	return stored, nil
}

func collectStored(rows pgx.Rows) (map[int]kafka.Stored, error) {
	defer rows.Close()
	all := map[int]kafka.Stored{}
	for rows.Next() {
		var (
			partition int
			stored    kafka.Stored
		)
		if err := scanStored(rows, &stored, &partition); err != nil {
			return nil, err
		}
		all[partition] = stored
	}
	return all, rows.Err()
}

// NextOffsets returns of each partition the offset after the last message that the feed has stored.
func (s *Store) NextOffsets(ctx context.Context) (map[int]int64, error) {
	stored, err := s.StoredOffsets(ctx)
	if err != nil {
		return nil, err
	}
	next := make(map[int]int64, len(stored))
	for partition, at := range stored {
		next[partition] = at.Next
	}
	return next, nil
}

// admit returns the events of the batch to insert and moves the partition's offset past the batch. It refuses a batch that
// begins after the stored offset: the database went back to an earlier state, and the messages in between are to be stored
// first.
//
// The offset never moves back. The stored offset passes an event only in the transaction that inserts it, so an unknown event
// below it comes from a consumer that has lost the partition and still reads what Kafka has lost since. It is inserted, because
// the relay may not publish it again. The exception is an event past retention: the feed has dropped it, but Kafka still has it.
func (w *writers) admit(b *pendingBatch) (admitted []Change) {
	oldest := Day(w.now.Add(-b.Retention))
	stored, ok := w.stored[b.Partition]
	b.done = Appended{}
	if b.refused = !ok || !b.redrive && b.Changes[0].Offset > stored.Next; b.refused {
		return nil
	}
	for _, c := range unknown(b.Changes, w.known) {
		if b.redrive || c.Offset < stored.Next {
			if c.GetRecordedAt().AsTime().Before(oldest) {
				continue
			}
			b.done.Below++
		}
		admitted = append(admitted, c)
	}
	b.done.Inserted = len(admitted)
	if b.redrive {
		return admitted
	}
	if last := b.Changes[len(b.Changes)-1]; last.Offset >= stored.Next {
		w.stored[b.Partition] = kafka.Stored{Next: last.Offset + 1, LastID: last.GetEventId(), LastTime: b.LastTime}
	}
	return admitted
}
