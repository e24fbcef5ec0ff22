package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// Append inserts the batch's new events in its order. A batch that was appended before has no
// effect, and neither has one from a consumer that lost the partition. Batches of several
// partitions that come at the same time share one transaction.
func (s *Store) Append(ctx context.Context, b Batch) (Appended, error) {
	if len(b.Changes) == 0 {
		return Appended{}, nil
	}
	a := &appending{Batch: b}
	if err := s.appends.Join(ctx, a); err != nil {
		return Appended{}, fmt.Errorf("append to feed: %w", err)
	}
	return a.done, nil
}

// appending is a batch on its way, and what became of it.
type appending struct {
	Batch
	done Appended
}

// appendAll appends batches of several partitions, each at once unless there are two of one.
func (s *Store) appendAll(ctx context.Context, batches []*appending) error {
	for len(batches) > 0 {
		now, later := ofEachPartition(batches)
		if err := s.appendTogether(ctx, now); err != nil {
			return err
		}
		batches = later
	}
	return nil
}

// ofEachPartition gives the first batch of each partition, in the order of the partitions, and the rest.
func ofEachPartition(batches []*appending) (first, rest []*appending) {
	for _, b := range batches {
		if slices.ContainsFunc(first, func(f *appending) bool { return f.Partition == b.Partition }) {
			rest = append(rest, b)
			continue
		}
		first = append(first, b)
	}
	slices.SortFunc(first, func(a, b *appending) int { return a.Partition - b.Partition })
	return first, rest
}

// What a transaction needs and another one has to make.
var (
	errDayMissing    = errors.New("partition is missing")
	errWriterMissing = errors.New("writer is missing")
)

func (s *Store) appendTogether(ctx context.Context, batches []*appending) error {
	for {
		day, err := s.tryAppend(ctx, batches)
		switch {
		case errors.Is(err, errDayMissing):
			err = s.ensureDay(ctx, day)
		case errors.Is(err, errWriterMissing):
			err = s.ensureWriters(ctx, batches)
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// tryAppend relies on the isolation level READ COMMITTED: what it reads after it has got the
// writers' locks includes all that an earlier holder committed.
func (s *Store) tryAppend(ctx context.Context, batches []*appending) (day time.Time, err error) {
	var w *writers
	err = postgres.ReadThenWrite(ctx, s.pool, func(b *pgx.Batch) {
		w = newWriters(len(batches))
		s.queueLock(b, batches, w)
	}, func() (func(b *pgx.Batch), error) {
		if len(w.nextOffsets) < len(batches) {
			return nil, errWriterMissing
		}
		// The clock may have been set back.
		if day = Day(w.now); w.lastDay.After(day) {
			day = w.lastDay
		}
		if !s.hasDay(day) {
			return nil, errDayMissing
		}
		var fresh []Change
		for _, b := range batches {
			fresh = append(fresh, w.admit(b)...)
		}
		return func(b *pgx.Batch) { queueInsert(b, fresh, day, w.nextOffsets) }, nil
	})
	return day, err
}

// An event is inserted on no day before it was recorded, give or take one for clocks that differ, and
// after that of the writer only if the clock of its source is ahead.
const knownIDs = `SELECT event_id FROM feed
WHERE event_id = ANY($1)
  AND day >= least($2::date, (SELECT min(last_day) - 1 FROM feed_writers WHERE kafka_partition = ANY($3)))`

// lookedUp gives the events' ids and the first day on which one of them can have been inserted.
func lookedUp(in []*appending) (ids postgres.UUIDs, from time.Time) {
	for _, b := range in {
		for _, c := range b.Changes {
			if recorded := Day(c.RecordedAt); len(ids) == 0 || recorded.Before(from) {
				from = recorded
			}
			ids = append(ids, c.ID)
		}
	}
	return ids, from.AddDate(0, 0, -1)
}

// unknown leaves out the changes that the feed has, and all but the first of those that the batch
// has twice.
func unknown(changes []Change, known map[string]bool) []Change {
	seen := make(map[string]bool, len(changes))
	var fresh []Change
	for _, c := range changes {
		if !known[c.ID] && !seen[c.ID] {
			seen[c.ID] = true
			fresh = append(fresh, c)
		}
	}
	return fresh
}
