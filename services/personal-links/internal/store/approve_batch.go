package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const (
	lockBatch = `SELECT ` + linkColumns + ` FROM links l
WHERE l.tenant_id = $1 AND l.batch_id = $2 AND l.status = 'REQUESTED' ORDER BY l.batch_index FOR UPDATE OF l`

	approveLinks = `UPDATE links l SET status = 'ACTIVE', approved_at = x.at, updated_at = x.at
FROM unnest($2::uuid[], $3::timestamptz[]) AS x (id, at) WHERE l.tenant_id = $1 AND l.id = x.id`
)

// ApproveBatch approves every link of the batch that waits, in one transaction, and returns how many.
func (s *Store) ApproveBatch(ctx context.Context, tenantID, batchID string, by Audit, now time.Time) (int, error) {
	var exists bool
	var links []*rules.Link
	err := postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			b.Queue(batchExists, tenantID, batchID).QueryRow(func(row pgx.Row) error { return row.Scan(&exists) })
			b.Queue(lockBatch, tenantID, batchID).Query(func(rows pgx.Rows) (err error) {
				links, err = pgx.CollectRows(rows, s.scanLink)
				return err
			})
		},
		func() (func(b *pgx.Batch), error) {
			if !exists {
				return nil, ErrNotFound
			}
			return approve(ctx, tenantID, links, by, now)
		})
	if err != nil {
		return 0, fmt.Errorf("approve batch: %w", err)
	}
	return len(links), nil
}

func approve(ctx context.Context, tenantID string, links []*rules.Link, by Audit, now time.Time) (func(b *pgx.Batch), error) {
	if len(links) == 0 {
		return nil, nil //nolint:nilnil // There is nothing to do.
	}
	var ids []string
	var at []time.Time
	var events []outbox.Event
	for _, l := range links {
		if _, err := l.Approve(now); err != nil {
			return nil, err
		}
		event, err := newEvent(l, rules.EventApproved, 0)
		if err != nil {
			return nil, err
		}
		ids, at, events = append(ids, l.Record.GetId()), append(at, event.OccurredAt), append(events, event)
	}
	return func(b *pgx.Batch) {
		b.Queue(approveLinks, tenantID, ids, at)
		by.queue(b, tenantID, ids, now)
		outbox.AppendAll(ctx, b, events)
	}, nil
}
