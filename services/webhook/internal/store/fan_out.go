package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Event is an event with the keys that receive it.
type Event struct {
	TenantID string
	ID       string
	Type     string
	Body     []byte
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

// An event that is already stored has been fanned out. It gets no further deliveries, even if more keys subscribe now.
const insertEvents = `
WITH fresh AS (
  INSERT INTO events (tenant_id, event_id, type, body, traceparent, created_at)
  SELECT e.tenant_id, e.event_id, e.type, e.body, e.traceparent, ` + now + `
    FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::bytea[], $9::text[]) AS e (tenant_id, event_id, type, body, traceparent)
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
	events   []Event
	rejected []Rejected
}

// FanOut stores the events with one pending delivery per key, due now, and the rejected messages. Events and messages that are
// already stored have no effect. Concurrent batches share one transaction.
func (s *Store) FanOut(ctx context.Context, events []Event, rejected []Rejected) error {
	if len(events) == 0 && len(rejected) == 0 {
		return nil
	}
	if err := s.fanOuts.Do(ctx, batch{events, rejected}); err != nil {
		return fmt.Errorf("store deliveries: %w", err)
	}
	return nil
}

func (s *Store) fanOut(ctx context.Context, batches []batch) error {
	var all batch
	for _, b := range batches {
		all.events, all.rejected = append(all.events, b.events...), append(all.rejected, b.rejected...)
	}
	var deliveries []DeliveryID
	for _, e := range all.events {
		for _, key := range e.KeyIDs {
			deliveries = append(deliveries, DeliveryID{Endpoint{e.TenantID, key}, e.ID})
		}
	}
	now := s.nowOverride()
	return postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		if len(all.events) > 0 {
			tenants, ids, keys := idColumns(deliveries)
			b.Queue(insertEvents, now,
				postgres.UUIDColumn(all.events, func(e Event) string { return e.TenantID }),
				postgres.UUIDColumn(all.events, func(e Event) string { return e.ID }),
				postgres.Column(all.events, func(e Event) string { return e.Type }),
				postgres.Column(all.events, func(e Event) []byte { return e.Body }),
				tenants, ids, keys,
				postgres.Column(all.events, func(e Event) string { return e.TraceParent }))
		}
		for _, r := range all.rejected {
			b.Queue(insertRejected, now, r.Topic, r.Partition, r.Offset, r.Reason, notNil(r.Value))
		}
	})
}

// notNil keeps an empty value from becoming NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
