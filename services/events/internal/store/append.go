package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Change is an event as it came from Kafka.
type Change struct {
	Offset      int64
	ID          string
	Type        string
	TenantID    string
	BrandID     string
	SubjectID   string
	OriginKeyID int32
	OccurredAt  time.Time
	RecordedAt  time.Time
	Data        []byte
}

// Batch is a run of messages of one Kafka partition in the order of their offsets.
type Batch struct {
	Partition int
	Changes   []Change
	// Retention is how long the feed keeps events.
	Retention time.Duration
}

// Appended says what became of a batch.
type Appended struct {
	Inserted int
	// Rewound counts events below the partition's offset that the feed did not have. The topic was
	// then made anew, or its end was lost; they were inserted.
	Rewound int
}

// errDayMissing asks for a partition outside the transaction that needs it.
var errDayMissing = errors.New("partition is missing")

// Append inserts the batch's new events in its order, in one transaction. A batch that was
// appended before has no effect, and neither has one from a consumer that lost the partition.
func (s *Store) Append(ctx context.Context, b Batch) (Appended, error) {
	if len(b.Changes) == 0 {
		return Appended{}, nil
	}
	for {
		done, day, err := s.tryAppend(ctx, b)
		if !errors.Is(err, errDayMissing) {
			return done, err
		}
		if err := s.ensureDay(ctx, day); err != nil {
			return Appended{}, err
		}
	}
}

// tryAppend relies on the isolation level READ COMMITTED: what it reads after it has got the
// writer's lock includes all that an earlier holder committed.
func (s *Store) tryAppend(ctx context.Context, b Batch) (done Appended, day time.Time, err error) {
	err = postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		done = Appended{}
		w, known, err := s.lockWriter(ctx, tx, b)
		if err != nil {
			return err
		}
		// The clock may have been set back.
		if day = Day(w.now); w.lastDay.After(day) {
			day = w.lastDay
		}
		if !s.hasDay(day) {
			return errDayMissing
		}
		var fresh []Change
		fresh, done.Rewound = w.admit(unknown(b.Changes, known), Day(w.now.Add(-b.Retention)))
		done.Inserted = len(fresh)
		next := w.nextOffset
		if end := b.Changes[len(b.Changes)-1].Offset + 1; end > next || done.Rewound > 0 {
			next = end
		}
		return insert(ctx, tx, b.Partition, fresh, day, next)
	})
	if err != nil {
		return Appended{}, day, fmt.Errorf("append to feed: %w", err)
	}
	return done, day, nil
}

// writer is a partition's locked row.
type writer struct {
	nextOffset int64
	lastDay    time.Time
	// now is when it was locked.
	now time.Time
}

const (
	// The transaction that makes the row sets its day before it commits.
	makeWriter = `INSERT INTO feed_writers (kafka_partition, next_offset, last_day) VALUES ($1, 0, 'epoch')
ON CONFLICT (kafka_partition) DO NOTHING`
	lockWriterRow = `SELECT next_offset, last_day FROM feed_writers WHERE kafka_partition = $1 FOR UPDATE`
)

// lockWriter also gives which of the batch's events the feed has, all in one round trip.
func (s *Store) lockWriter(ctx context.Context, tx pgx.Tx, of Batch) (w writer, known []string, err error) {
	b := &pgx.Batch{}
	b.Queue(makeWriter, of.Partition)
	b.Queue(lockWriterRow, of.Partition).QueryRow(func(row pgx.Row) error {
		return row.Scan(&w.nextOffset, &w.lastDay)
	})
	s.queueClock(b, &w.now) // After the lock, for which the transaction may have waited.
	ids, from := lookedUp(of.Changes)
	b.Queue(knownIDs, ids, from, of.Partition).Query(func(rows pgx.Rows) (err error) {
		known, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	err = tx.SendBatch(ctx, b).Close()
	return w, known, err
}

// admit takes from events that the feed does not have those to insert.
//
// The stored offset passes an event only in the transaction that inserts it. So an unknown event
// below the offset means that Kafka has begun to count anew, and it must not be lost; unless
// it is so old that retention has dropped it and Kafka, which keeps messages by another rule,
// brings it again.
func (w writer) admit(unknown []Change, oldest time.Time) (admitted []Change, rewound int) {
	for _, c := range unknown {
		if c.Offset < w.nextOffset {
			if c.RecordedAt.Before(oldest) {
				continue
			}
			rewound++
		}
		admitted = append(admitted, c)
	}
	return admitted, rewound
}

// An event is inserted on no day before it was recorded, give or take one for clocks that differ, and
// after that of the writer only if the clock of its source is ahead.
const knownIDs = `SELECT event_id FROM feed
WHERE event_id = ANY($1)
  AND day >= least($2::date, (SELECT last_day - 1 FROM feed_writers WHERE kafka_partition = $3))`

// lookedUp gives the events' ids and the first day on which one of them can have been inserted.
func lookedUp(changes []Change) (ids []string, from time.Time) {
	for i, c := range changes {
		ids = append(ids, c.ID)
		if recorded := Day(c.RecordedAt); i == 0 || recorded.Before(from) {
			from = recorded
		}
	}
	return ids, from.AddDate(0, 0, -1)
}

// unknown leaves out the changes that the feed has, and all but the first of those that the batch
// has twice.
func unknown(changes []Change, known []string) []Change {
	seen := make(map[string]bool, len(changes))
	for _, id := range known {
		seen[id] = true
	}
	var fresh []Change
	for _, c := range changes {
		if !seen[c.ID] {
			seen[c.ID] = true
			fresh = append(fresh, c)
		}
	}
	return fresh
}
