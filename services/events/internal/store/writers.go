package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// writers holds the locked rows of some partitions and the values read while they were locked.
type writers struct {
	nextOffsets map[int]int64
	// lastDay is the latest of all partitions: events are never inserted on an earlier day.
	lastDay time.Time
	// now is the time after locking.
	now time.Time
	// known are the ids of events in the batches that the feed already has.
	known map[string]bool
}

func newWriters(partitions int) *writers {
	return &writers{nextOffsets: make(map[int]int64, partitions), known: map[string]bool{}}
}

const (
	insertWriters = `INSERT INTO feed_writers (kafka_partition, next_offset, last_day)
SELECT p, 0, 'epoch' FROM unnest($1::int[]) p ORDER BY p
ON CONFLICT (kafka_partition) DO NOTHING`
	// The order is fixed, so that transactions do not deadlock.
	lockWriterRows = `SELECT kafka_partition, next_offset, last_day FROM feed_writers
WHERE kafka_partition = ANY($1) ORDER BY kafka_partition FOR UPDATE`
)

func (s *Store) ensureWriters(ctx context.Context, of []*pendingBatch) error {
	_, err := s.pool.Exec(ctx, insertWriters, partitionsOf(of))
	return err
}

func partitionsOf(of []*pendingBatch) []int {
	return postgres.Column(of, func(b *pendingBatch) int { return b.Partition })
}

// queueLock locks the batches' writers and then reads into w.
func (s *Store) queueLock(b *pgx.Batch, of []*pendingBatch, w *writers) {
	b.Queue(lockWriterRows, partitionsOf(of)).Query(func(rows pgx.Rows) error {
		var (
			partition int
			next      int64
			last      time.Time
		)
		_, err := pgx.ForEachRow(rows, []any{&partition, &next, &last}, func() error {
			w.nextOffsets[partition] = next
			if last.After(w.lastDay) {
				w.lastDay = last
			}
			return nil
		})
		return err
	})
	s.queueClock(b, &w.now) // The clock is read after the locks, for which the transaction may have waited.
	ids, from := idsAndFirstDay(of)
	b.Queue(knownIDs, ids, from, partitionsOf(of)).Query(func(rows pgx.Rows) error {
		var id string
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			w.known[id] = true
			return nil
		})
		return err
	})
}

// NextOffsets returns of each partition the offset after the last message that the feed has stored.
func (s *Store) NextOffsets(ctx context.Context) (map[int]int64, error) {
	rows, err := s.pool.Query(ctx, "SELECT kafka_partition, next_offset FROM feed_writers")
	if err != nil {
		return nil, fmt.Errorf("read offsets of feed: %w", err)
	}
	var (
		partition int
		next      int64
	)
	offsets := map[int]int64{}
	_, err = pgx.ForEachRow(rows, []any{&partition, &next}, func() error {
		offsets[partition] = next
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read offsets of feed: %w", err)
	}
	return offsets, nil
}

// admit returns the events of the batch to insert and moves the partition's offset past the batch.
//
// The stored offset passes an event only in the transaction that inserts it. So an unknown event below the offset means that
// the offsets of the topic started again, and the event must be inserted. The exception is an event past retention: the feed
// has dropped it, but Kafka still has it and delivers it once more.
func (w *writers) admit(b *pendingBatch) (admitted []Change) {
	oldest, next := Day(w.now.Add(-b.Retention)), w.nextOffsets[b.Partition]
	b.done = Appended{}
	for _, c := range unknown(b.Changes, w.known) {
		if c.Offset < next {
			if c.GetRecordedAt().AsTime().Before(oldest) {
				continue
			}
			b.done.Rewound++
		}
		admitted = append(admitted, c)
	}
	b.done.Inserted = len(admitted)
	if end := b.Changes[len(b.Changes)-1].Offset + 1; end > next || b.done.Rewound > 0 {
		w.nextOffsets[b.Partition] = end
	}
	return admitted
}
