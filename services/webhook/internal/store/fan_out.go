package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
)

// Event is an event with the keys that receive it.
type Event struct {
	TenantID string
	ID       string
	Type     string
	// BrandID is that of the event's record; empty if it is not known.
	BrandID string
	Body    []byte
	// TraceParent is the recorded trace in which the event is fanned out, or empty.
	TraceParent string
	KeyIDs      []int32
}

// Rejected is a message that is not a valid change.
type Rejected struct {
	Topic     string
	Partition int
	Offset    int64
	Reason    string
	Value     []byte
}

// Messages say which messages of a Kafka partition are stored.
type Messages struct {
	Partition int
	// First is the offset of the first message, Next that after the last one.
	First, Next int64
	// LastID is the event of the last message, LastTime its Kafka time.
	LastID   string
	LastTime time.Time
}

// offsetOf selects columns of a partition's row, which every batch updates.
func offsetOf(partition, columns string) string {
	return postgres.NewestVersion(columns, "fan_out_offsets", "kafka_partition", partition)
}

var (
	// Rows are locked in a fixed order, so that transactions do not deadlock. The next statements see what the last holders of the
	// locks have committed.
	lockOffsets = `SELECT FROM (SELECT partition FROM unnest($1::int[]) AS u (partition) ORDER BY partition) p
 CROSS JOIN LATERAL (` + offsetOf("p.partition", "next_offset") + ` FOR UPDATE) o`

	// The offset of a partition moves unless its messages begin after it. It never moves back.
	moveOffsets = `UPDATE fan_out_offsets o
   SET next_offset = m.next, last_id = m.last_id, last_time = m.last_time
  FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[])
    AS m (partition, first, next, last_id, last_time)
 CROSS JOIN LATERAL (` + offsetOf("m.partition", "ctid") + `) locked
 WHERE o.ctid = locked.ctid AND m.first <= o.next_offset AND o.next_offset < m.next`

	// Messages that begin after the offset were not moved past: they are refused, and so are their events below.
	refusedPartitions = `SELECT m.partition FROM unnest($1::int[], $2::bigint[]) AS m (partition, next)
 WHERE coalesce((` + offsetOf("m.partition", "next_offset") + `), -1) < m.next`
)

// An event that is already stored has been fanned out. It gets no further deliveries, even if more keys subscribe now. An event
// of messages that are refused is not stored.
var insertEvents = `
WITH fresh AS (
  INSERT INTO events (tenant_id, event_id, type, body, traceparent, created_at, brand_id)
  SELECT e.tenant_id, e.event_id, e.type, e.body, e.traceparent, ` + now + `, e.brand_id
    FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $9::text[], $10::int[], $11::bigint[], $12::uuid[])
      AS e (tenant_id, event_id, type, body, traceparent, partition, next, brand_id)
   WHERE e.next < 0 OR (` + offsetOf("e.partition", "next_offset") + `) >= e.next
  ON CONFLICT (tenant_id, event_id) DO NOTHING
  RETURNING tenant_id, event_id
)
INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at)
SELECT d.tenant_id, d.event_id, d.key_id, ` + now + `, ` + now + `
  FROM unnest($6::uuid[], $7::uuid[], $8::int[]) AS d (tenant_id, event_id, key_id)
  JOIN fresh ON fresh.tenant_id = d.tenant_id AND fresh.event_id = d.event_id
ON CONFLICT (tenant_id, event_id, key_id) DO NOTHING`

const insertRejected = `
INSERT INTO rejected_messages (topic, partition, "offset", reason, value, rejected_at)
VALUES ($2, $3, $4, $5, $6, ` + now + `)
ON CONFLICT (topic, partition, "offset") DO NOTHING`

// batch holds the events and rejected messages of a batch of one Kafka partition.
type batch struct {
	// messages is nil if the events are not those of messages.
	messages *Messages
	events   []Event
	// key gets deliveries of events that are already stored; 0 is none.
	key      int32
	rejected []Rejected
	refused  bool
	// storedAt is when the transaction that stored it began.
	storedAt time.Time
}

// FanOut stores the events with one pending delivery per key, due now, and returns their endpoints. Events that are already
// stored have no effect.
func (s *Store) FanOut(ctx context.Context, events []Event, rejected []Rejected) ([]Due, error) {
	return s.store(ctx, &batch{events: events, rejected: rejected})
}

// FanOutMessages stores the events and rejected messages of consecutive messages, and the offset after them. Events and
// messages that are already stored have no effect. Messages that begin after the stored offset are refused with
// kafka.ErrBeyondStored. Concurrent calls share a transaction. It returns the endpoints of the events.
func (s *Store) FanOutMessages(ctx context.Context, m Messages, events []Event, rejected []Rejected) ([]Due, error) {
	return s.store(ctx, &batch{messages: &m, events: events, rejected: rejected})
}

func (s *Store) store(ctx context.Context, b *batch) ([]Due, error) {
	err := s.fanOuts.Do(ctx, b)
	if err == nil && b.refused {
		err = kafka.ErrBeyondStored
	}
	if err != nil {
		return nil, fmt.Errorf("store deliveries: %w", err)
	}
	return b.due(), nil
}

// due returns each endpoint of the batch once.
func (b *batch) due() []Due {
	var list []Due
	seen := map[Endpoint]struct{}{}
	for _, e := range b.events {
		for _, key := range e.KeyIDs {
			endpoint := Endpoint{e.TenantID, key}
			if _, again := seen[endpoint]; !again {
				seen[endpoint] = struct{}{}
				list = append(list, Due{Endpoint: endpoint, Since: b.storedAt})
			}
		}
	}
	return list
}

// fanOut stores batches in one transaction, or in several if there are two of one partition.
func (s *Store) fanOut(ctx context.Context, batches []*batch) error {
	for len(batches) > 0 {
		var now, later []*batch
		has := map[int]bool{}
		for _, b := range batches {
			if b.messages != nil && has[b.messages.Partition] {
				later = append(later, b)
				continue
			}
			if b.messages != nil {
				has[b.messages.Partition] = true
			}
			now = append(now, b)
		}
		if err := s.fanOutInOneTx(ctx, now); err != nil {
			return err
		}
		batches = later
	}
	return nil
}

func (s *Store) fanOutInOneTx(ctx context.Context, batches []*batch) error {
	var (
		events     []Event
		rejected   []Rejected
		from       []Messages // The messages of each event.
		moved      []Messages
		deliveries []DeliveryID
	)
	for _, b := range batches {
		messages := Messages{Partition: -1, Next: -1}
		if b.messages != nil {
			messages = *b.messages
			moved = append(moved, messages)
		}
		events, rejected = append(events, b.events...), append(rejected, b.rejected...)
		for _, e := range b.events {
			from = append(from, messages)
			for _, key := range e.KeyIDs {
				deliveries = append(deliveries, DeliveryID{Endpoint{e.TenantID, key}, e.ID})
			}
		}
	}
	at := s.nowOverride()
	refused := map[int]bool{}
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		clear(refused)
		queueTime(b, at, batches)
		if slices.ContainsFunc(batches, func(b *batch) bool { return b.key != 0 }) {
			b.Queue(holdRetention, int64(retentionLock))
		}
		queueOffsets(b, moved, refused)
		if len(events) > 0 {
			tenants, ids, keys := idColumns(deliveries)
			b.Queue(insertEvents, at,
				postgres.UUIDColumn(events, func(e Event) string { return e.TenantID }),
				postgres.UUIDColumn(events, func(e Event) string { return e.ID }),
				postgres.Column(events, func(e Event) string { return e.Type }),
				postgres.Column(events, func(e Event) []byte { return e.Body }),
				tenants, ids, keys,
				postgres.Column(events, func(e Event) string { return e.TraceParent }),
				postgres.Column(from, func(m Messages) int { return m.Partition }),
				postgres.Column(from, func(m Messages) int64 { return m.Next }),
				postgres.Column(events, func(e Event) *string { return postgres.Nullable(e.BrandID) }))
		}
		queueKeys(b, at, batches)
		for _, r := range rejected {
			b.Queue(insertRejected, at, r.Topic, r.Partition, r.Offset, r.Reason, notNil(r.Value))
		}
	})
	for _, b := range batches {
		b.refused = b.messages != nil && refused[b.messages.Partition]
	}
	return err
}

// queueTime notes when the transaction began.
func queueTime(b *pgx.Batch, at *time.Time, batches []*batch) {
	b.Queue("SELECT "+now, at).QueryRow(func(row pgx.Row) error {
		var storedAt time.Time
		err := row.Scan(&storedAt)
		for _, stored := range batches {
			stored.storedAt = storedAt
		}
		return err
	})
}

// queueOffsets moves the offsets past the messages and notes the partitions whose messages are refused.
func queueOffsets(b *pgx.Batch, messages []Messages, refused map[int]bool) {
	if len(messages) == 0 {
		return
	}
	partitions := postgres.Column(messages, func(m Messages) int { return m.Partition })
	next := postgres.Column(messages, func(m Messages) int64 { return m.Next })
	b.Queue(lockOffsets, partitions)
	b.Queue(moveOffsets, partitions,
		postgres.Column(messages, func(m Messages) int64 { return m.First }), next,
		postgres.Column(messages, func(m Messages) string { return m.LastID }),
		postgres.Column(messages, func(m Messages) time.Time { return m.LastTime }))
	b.Queue(refusedPartitions, partitions, next).Query(func(rows pgx.Rows) error {
		var partition int
		_, err := pgx.ForEachRow(rows, []any{&partition}, func() error {
			refused[partition] = true
			return nil
		})
		return err
	})
}

// notNil keeps an empty value from becoming NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
