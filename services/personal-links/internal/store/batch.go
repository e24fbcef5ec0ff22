package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

const insertBatch = `INSERT INTO link_batches (tenant_id, id, product_ids, key_id, key_name, created_at)
VALUES ($1, $2, $3, $4, $5, $6)`

// One statement inserts all links of a batch.
var insertLinks = madeColumns.InsertAll("links")

// QueueBatch returns a function that adds the batch, its links and their events to a transaction. It returns nil for a batch
// without links.
func (s *Store) QueueBatch(ctx context.Context, batch *rules.Batch) (func(b *pgx.Batch), error) {
	if len(batch.Links) == 0 {
		return nil, nil //nolint:nilnil // There is nothing to do.
	}
	var rows []*row
	var events []outbox.Event
	for _, l := range batch.Links {
		details, err := json.Marshal(l.Details)
		if err != nil {
			return nil, fmt.Errorf("encode details: %w", err)
		}
		event, err := s.newEvent(l.Link, rules.EventCreated, batch.KeyID)
		if err != nil {
			return nil, err
		}
		id := l.Record.GetId()
		rows = append(rows, &row{
			Link: l.Link, record: l.Record, tokenHash: l.TokenHash,
			url: s.ring.Seal([]byte(l.Record.GetClaimUrl()), ofURL(id)), details: s.ring.Seal(details, ofDetails(id)),
		})
		events = append(events, event)
	}
	products := append([]string{}, batch.ProductIDs...)
	return func(b *pgx.Batch) {
		b.Queue(insertBatch, batch.TenantID, batch.ID, products, batch.KeyID, batch.KeyName, batch.CreatedAt)
		b.Queue(insertLinks, madeColumns.Arrays(rows)...)
		queueSteps(b, batch.TenantID, batch.Links)
		outbox.AppendAll(ctx, b, events)
	}, nil
}

var lockBatch = fromLinks +
	`WHERE l.tenant_id = $1 AND l.batch_id = $2 AND l.status = 'REQUESTED' ORDER BY l.batch_index FOR UPDATE OF l`

const approveLinks = `UPDATE links l SET status = 'ACTIVE', approved_at = x.at, updated_at = x.at
FROM unnest($2::uuid[], $3::timestamptz[]) AS x (id, at) WHERE l.tenant_id = $1 AND l.id = x.id`

// ApproveBatch approves every link of the batch that waits for approval, in one transaction, and returns how many.
func (s *Store) ApproveBatch(ctx context.Context, tenantID, batchID string, by Audit, now time.Time) (int, error) {
	var exists bool
	var links []*rules.Link
	err := postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			b.Queue(batchExists, tenantID, batchID).QueryRow(func(row pgx.Row) error { return row.Scan(&exists) })
			postgres.QueueSelect(b, &links, s.scanListed, lockBatch, tenantID, batchID)
		},
		func() (func(b *pgx.Batch), error) {
			if !exists {
				return nil, ErrNotFound
			}
			return s.queueApproval(ctx, tenantID, links, by, now)
		})
	if err != nil {
		return 0, fmt.Errorf("approve batch: %w", err)
	}
	return len(links), nil
}

func (s *Store) queueApproval(
	ctx context.Context, tenantID string, links []*rules.Link, by Audit, now time.Time,
) (func(b *pgx.Batch), error) {
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
		event, err := s.newEvent(l, rules.EventApproved, 0)
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
