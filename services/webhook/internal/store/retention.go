package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// retentionLock is held by the one instance that deletes. Two that each delete a delivery of one event would
// each still see the other's delivery, and the event would stay.
const retentionLock = 0x77686b32_72657465

// Attempts are deleted with their delivery. A delivery that was resent meanwhile is not finished and stays.
const deleteFinished = `
DELETE FROM deliveries d
 USING (
   SELECT f.tenant_id, f.event_id, f.key_id, f.finished_at
     FROM deliveries f
    WHERE f.finished_at < ` + now + ` - $2::interval
    ORDER BY f.finished_at
    LIMIT $3) old
 WHERE d.tenant_id = old.tenant_id AND d.event_id = old.event_id AND d.key_id = old.key_id
   AND d.finished_at = old.finished_at
RETURNING d.tenant_id, d.event_id`

// An event gets all its deliveries in the statement that inserts it, so it gets none while this runs. Kafka
// keeps changes for a shorter time than this log, so it cannot deliver one again whose event is deleted; that
// one would be fanned out again.
const deleteUnneeded = `
DELETE FROM events e
 USING unnest($1::uuid[], $2::uuid[]) AS g (tenant_id, event_id)
 WHERE e.tenant_id = g.tenant_id AND e.event_id = g.event_id
   AND NOT EXISTS (
     SELECT 1 FROM deliveries d WHERE d.tenant_id = e.tenant_id AND d.event_id = e.event_id)`

// DeleteFinished deletes up to limit deliveries that finished longer ago than keep, oldest first, with their
// attempts and with the events that have no other deliveries. It returns how many deliveries it deleted:
// none while another instance deletes.
func (s *Store) DeleteFinished(ctx context.Context, keep time.Duration, limit int) (int, error) {
	var tenants, events postgres.UUIDs
	err := postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		tenants, events = nil, nil
		var alone bool
		err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(retentionLock)).Scan(&alone)
		if err != nil || !alone {
			return err
		}
		rows, err := tx.Query(ctx, deleteFinished, s.nowOverride(), keep, limit)
		if err != nil {
			return err
		}
		var tenant, event string
		_, err = pgx.ForEachRow(rows, []any{&tenant, &event}, func() error {
			tenants, events = append(tenants, tenant), append(events, event)
			return nil
		})
		if err != nil || len(events) == 0 {
			return err
		}
		_, err = tx.Exec(ctx, deleteUnneeded, tenants, events)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete finished deliveries: %w", err)
	}
	return len(events), nil
}
