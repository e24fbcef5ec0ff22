package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Change is a message of the changes topic.
type Change struct {
	Offset int64
	*eventsv1.Change
}

// Batch holds consecutive messages of one Kafka partition.
type Batch struct {
	Partition int
	Changes   []Change
	// LastTime is the Kafka time of the last change.
	LastTime time.Time
	// Retention is how long the feed keeps events.
	Retention time.Duration
}

// Appended is the result of appending a batch.
type Appended struct {
	Inserted int
	// Below counts appended events with offsets below the stored one of their partition.
	Below int
}

// Append inserts the events of the batch that the feed does not have, in order. So a batch that arrives again, also from a
// consumer that lost the partition, has no effect. A batch that begins after the stored offset is refused with
// kafka.ErrBeyondStored. Concurrent batches of several partitions share one transaction.
func (s *Store) Append(ctx context.Context, b Batch) (Appended, error) {
	if len(b.Changes) == 0 {
		return Appended{}, nil
	}
	p := &pendingBatch{Batch: b}
	if err := s.appends.Do(ctx, p); err != nil {
		return Appended{}, fmt.Errorf("append to feed: %w", err)
	}
	if p.refused {
		return Appended{}, fmt.Errorf("%w of the feed", kafka.ErrBeyondStored)
	}
	return p.done, nil
}

// pendingBatch is a batch that is being appended, and its result.
type pendingBatch struct {
	Batch
	done    Appended
	refused bool
	// redrive: the batch is from an earlier part of the log, so the stored offset does not matter.
	redrive bool
}

// appendAll appends batches in one transaction, or in several if there are two of one partition.
func (s *Store) appendAll(ctx context.Context, batches []*pendingBatch) error {
	for len(batches) > 0 {
		first, rest := firstOfEachPartition(batches)
		if err := s.appendInOneTx(ctx, first); err != nil {
			return err
		}
		batches = rest
	}
	return nil
}

// firstOfEachPartition returns the first batch of each partition, in the order of the partitions, and the other batches.
func firstOfEachPartition(batches []*pendingBatch) (first, rest []*pendingBatch) {
	for _, b := range batches {
		if slices.ContainsFunc(first, func(f *pendingBatch) bool { return f.Partition == b.Partition }) {
			rest = append(rest, b)
			continue
		}
		first = append(first, b)
	}
	slices.SortFunc(first, func(a, b *pendingBatch) int { return a.Partition - b.Partition })
	return first, rest
}

// After errDayMissing, appendInOneTx creates the missing partition in another transaction and tries again, maxDayAttempts times at
// most.
var errDayMissing = errors.New("partition is missing")

const maxDayAttempts = 3

func (s *Store) appendInOneTx(ctx context.Context, batches []*pendingBatch) error {
	for attempt := 1; ; attempt++ {
		day, err := s.tryAppend(ctx, batches)
		if !errors.Is(err, errDayMissing) || attempt == maxDayAttempts {
			return err
		}
		if err := s.ensureDay(ctx, day); err != nil {
			return err
		}
	}
}

// tryAppend relies on the isolation level READ COMMITTED: once it has the writers' locks, it sees everything that earlier
// holders committed.
func (s *Store) tryAppend(ctx context.Context, batches []*pendingBatch) (day time.Time, err error) {
	var w *writers
	err = postgres.ReadThenWrite(ctx, s.pool, func(b *pgx.Batch) {
		w = newWriters(len(batches))
		s.queueLock(b, batches, w)
	}, func() (func(b *pgx.Batch), error) {
		// Days never go back, even if the clock does.
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
		return func(b *pgx.Batch) { queueInsert(b, fresh, day, w.stored) }, nil
	})
	if postgres.State(err) == stateNoPartition { // The database was set back to a time when it did not have the partition.
		s.forgetDay(day)
		err = fmt.Errorf("%w: %w", errDayMissing, err)
	}
	return day, err
}

// The first line has the clock. The search begins one day before the oldest event was recorded, because clocks differ, or one day
// before the writers' last day if that is earlier because a source's clock is ahead.
var knownIDs = `SELECT NULL::uuid, coalesce($4::timestamptz, clock_timestamp())
UNION ALL
SELECT event_id, NULL FROM feed
WHERE event_id = ANY($1)
  AND day >= least($2::date, (
    SELECT min(w.last_day) - 1 FROM unnest($3::int[]) AS p (partition)
     CROSS JOIN LATERAL (` + writerOf("p.partition", "last_day") + `) w))`

// idsAndFirstDay returns the events' ids and the first day on which one of them may have been inserted.
func idsAndFirstDay(in []*pendingBatch) (ids postgres.UUIDs, from time.Time) {
	for _, b := range in {
		for _, c := range b.Changes {
			if recorded := Day(c.GetRecordedAt().AsTime()); len(ids) == 0 || recorded.Before(from) {
				from = recorded
			}
			ids = append(ids, c.GetEventId())
		}
	}
	return ids, from.AddDate(0, 0, -1)
}

// unknown returns the changes that the feed does not have, each once.
func unknown(changes []Change, known map[string]bool) []Change {
	seen := make(map[string]bool, len(changes))
	var fresh []Change
	for _, c := range changes {
		if id := c.GetEventId(); !known[id] && !seen[id] {
			seen[id] = true
			fresh = append(fresh, c)
		}
	}
	return fresh
}

// lastOf selects columns of a tenant's row in feed_tenants, which every append for the tenant updates.
func lastOf(tenant, columns string) string {
	return postgres.NewestVersion(columns, "feed_tenants", "tenant_id", tenant)
}

// The inner query is sorted before the outer one takes values from the sequence, so that
// positions follow the order of the arrays.
var insertAndMove = `WITH inserted AS (
  INSERT INTO feed (tenant_id, day, position, event_id, type, brand_id, subject_id, origin_key_id,
    occurred_at, recorded_at, data)
  SELECT tenant_id, $1::date, nextval('feed_position'), event_id, type, brand_id, subject_id,
    origin_key_id, occurred_at, recorded_at, data
  FROM (
    SELECT tenant_id, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data
    FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[], $7::int[],
      $8::timestamptz[], $9::timestamptz[], $10::bytea[]) WITH ORDINALITY
      AS r (tenant_id, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data, n)
    ORDER BY n
  ) ordered
  RETURNING tenant_id, position
), last AS (
  SELECT tenant_id, max(position) AS position FROM inserted GROUP BY tenant_id
), updated AS (
  UPDATE feed_tenants t SET last_position = last.position
    FROM last CROSS JOIN LATERAL (` + lastOf("last.tenant_id", "ctid") + `) found
   WHERE t.ctid = found.ctid
  RETURNING t.tenant_id
), moved AS (
  UPDATE feed_writers w
     SET next_offset = m.next, last_id = m.id, last_time = m.at, last_day = $1
    FROM unnest($11::int[], $12::bigint[], $13::text[], $14::timestamptz[]) AS m (partition, next, id, at)
   CROSS JOIN LATERAL (` + writerOf("m.partition", "ctid") + `) locked
   WHERE w.ctid = locked.ctid
)
INSERT INTO feed_tenants (tenant_id, last_position)
SELECT tenant_id, position FROM last WHERE tenant_id NOT IN (SELECT tenant_id FROM updated)
ON CONFLICT (tenant_id) DO UPDATE SET last_position = excluded.last_position`

// queueInsert adds the changes, if there are any, in their order and updates the writers' offsets.
func queueInsert(b *pgx.Batch, changes []Change, day time.Time, stored map[int]kafka.Stored) {
	partitions := slices.Collect(maps.Keys(stored))
	b.Queue(insertAndMove, day,
		postgres.UUIDColumn(changes, func(c Change) string { return c.GetTenantId() }),
		postgres.UUIDColumn(changes, func(c Change) string { return c.GetEventId() }),
		postgres.Column(changes, func(c Change) string { return c.GetType() }),
		postgres.UUIDColumn(changes, func(c Change) string { return c.GetBrandId() }),
		postgres.UUIDColumn(changes, func(c Change) string { return c.GetSubjectId() }),
		postgres.Column(changes, func(c Change) int32 { return c.GetOriginKeyId() }),
		postgres.Column(changes, func(c Change) time.Time { return c.GetOccurredAt().AsTime() }),
		postgres.Column(changes, func(c Change) time.Time { return c.GetRecordedAt().AsTime() }),
		postgres.Column(changes, func(c Change) []byte { return notNil(c.GetData()) }),
		partitions,
		postgres.Column(partitions, func(p int) int64 { return stored[p].Next }),
		postgres.Column(partitions, func(p int) string { return stored[p].LastID }),
		postgres.Column(partitions, func(p int) time.Time { return stored[p].LastTime }))
}
