package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

const knownEvents = `SELECT e.event_id FROM events e
  JOIN unnest($1::uuid[], $2::uuid[]) AS k (tenant_id, event_id) ON e.tenant_id = k.tenant_id AND e.event_id = k.event_id`

// Missing returns the events that are not stored.
func (s *Store) Missing(ctx context.Context, events []Event) ([]Event, error) {
	rows, err := s.pool.Query(ctx, knownEvents,
		postgres.UUIDColumn(events, func(e Event) string { return e.TenantID }),
		postgres.UUIDColumn(events, func(e Event) string { return e.ID }))
	if err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for events: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return slices.Contains(known, e.ID) }), nil
}

// ForgetTopic forgets the stored offsets, for another topic.
func (s *Store) ForgetTopic(ctx context.Context) error {
	if _, err := s.pool.Exec(ctx, "DELETE FROM fan_out_offsets"); err != nil {
		return fmt.Errorf("forget the topic: %w", err)
	}
	return nil
}
