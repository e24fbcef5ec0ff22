package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

const (
	knownEvents = `SELECT e.event_id, EXISTS (
  SELECT FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.event_id = e.event_id AND d.key_id = $3)
  FROM events e
  JOIN unnest($1::uuid[], $2::uuid[]) AS k (tenant_id, event_id) ON e.tenant_id = k.tenant_id AND e.event_id = k.event_id`

	// The retention deletes events that have no deliveries left. It must not run while a delivery is added.
	lockRetention = `SELECT pg_advisory_xact_lock($1)`

	insertDeliveries = `
INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at)
SELECT e.tenant_id, e.event_id, $4, ` + now + `, ` + now + `
  FROM unnest($2::uuid[], $3::uuid[]) AS k (tenant_id, event_id)
  JOIN events e ON e.tenant_id = k.tenant_id AND e.event_id = k.event_id
ON CONFLICT (tenant_id, event_id, key_id) DO NOTHING`
)

// Missing returns the events that are not stored, and those that are stored but have no delivery for the key, with that key only.
// A key of 0 is none.
func (s *Store) Missing(ctx context.Context, events []Event, key int32) ([]Event, error) {
	rows, err := s.pool.Query(ctx, knownEvents,
		postgres.UUIDColumn(events, func(e Event) string { return e.TenantID }),
		postgres.UUIDColumn(events, func(e Event) string { return e.ID }), key)
	if err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	var (
		id  string
		has bool
	)
	known := map[string]bool{}
	if _, err = pgx.ForEachRow(rows, []any{&id, &has}, func() error {
		known[id] = has
		return nil
	}); err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	var missing []Event
	for _, e := range events {
		has, stored := known[e.ID]
		if stored && (has || key == 0) {
			continue
		}
		if stored {
			e.KeyIDs = []int32{key}
		}
		missing = append(missing, e)
	}
	return missing, nil
}

// queueKeys adds the deliveries that are missing for the key of each batch that has one.
func queueKeys(b *pgx.Batch, at *time.Time, batches []*batch) {
	for _, stored := range batches {
		if stored.key != 0 {
			b.Queue(insertDeliveries, at,
				postgres.UUIDColumn(stored.events, func(e Event) string { return e.TenantID }),
				postgres.UUIDColumn(stored.events, func(e Event) string { return e.ID }), stored.key)
		}
	}
}

// ForgetTopic forgets the stored offsets, for another topic.
func (s *Store) ForgetTopic(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, "DELETE FROM fan_out_offsets"); err != nil {
		return fmt.Errorf("forget the topic: %w", err)
	}
	return nil
}
