package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const (
	// Each part has its own index.
	findPersonOrders = `SELECT id::text, status, personal_link_id::text FROM (
  SELECT id, status, personal_link_id FROM orders WHERE tenant_id = $1 AND external_recipient_id = $2
  UNION SELECT id, status, personal_link_id FROM orders WHERE tenant_id = $1 AND id = ANY($3)
  UNION SELECT id, status, personal_link_id FROM orders WHERE tenant_id = $1 AND personal_link_id = ANY($4)
) of_person ORDER BY id LIMIT $5`

	selectWithMessages = `SELECT DISTINCT order_id::text FROM order_messages
WHERE tenant_id = $1 AND order_id = ANY($2) AND body_sealed IS NOT NULL`

	// The name of a client of the tenant is erased too: the client may be the person.
	eraseMessages = `UPDATE order_messages SET body_sealed = NULL, body_bytes = 0,
  author_id = CASE author_kind WHEN 'TENANT_CLIENT' THEN '' ELSE author_id END,
  author_name = CASE author_kind WHEN 'TENANT_CLIENT' THEN $3 ELSE author_name END
WHERE tenant_id = $1 AND order_id = ANY($2) AND body_sealed IS NOT NULL`

	// A message is work on the order too. An order that was changed so long ago was created before: created_at is in the index. Only
	// in this order does PostgreSQL read no other one, however many orders it believes to find.
	findStale = `SELECT tenant_id::text, id::text, version FROM orders o
WHERE status IN ('REQUESTED', 'PROCESSING', 'SENT') AND details_erased_at IS NULL
  AND created_at < now() - $1::interval AND updated_at < now() - $1::interval
  AND NOT EXISTS (SELECT FROM order_messages m WHERE m.tenant_id = o.tenant_id AND m.order_id = o.id
    AND m.created_at >= now() - $1::interval)
ORDER BY created_at LIMIT $2`

	postedWithin = `SELECT EXISTS (SELECT FROM order_messages
WHERE tenant_id = $1 AND order_id = $2 AND created_at >= now() - $3::interval)`
)

var lockOrders = `SELECT ` + lockedColumns.Select() + ` FROM orders WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE`

// PersonFilter selects the orders that have any of the values.
type PersonFilter struct {
	TenantID            string
	ExternalRecipientID *string
	OrderIDs, LinkIDs   []string
}

// PersonOrders reads up to limit orders of a person, by id, with the fields Id, Status and PersonalLinkId only.
func (s *Store) PersonOrders(ctx context.Context, p PersonFilter, limit int) ([]*ordersv1.Order, error) {
	return postgres.Select(ctx, s.pool, "find orders of a person", func(row pgx.CollectableRow) (*ordersv1.Order, error) {
		o := &ordersv1.Order{}
		return o, row.Scan(&o.Id, postgres.ScanEnum(&o.Status), &o.PersonalLinkId)
	}, findPersonOrders, planPerCall, p.TenantID, p.ExternalRecipientID, p.OrderIDs, p.LinkIDs, limit)
}

// ErasePersonalData erases the orders with their messages, in one transaction with events and audit, and returns the records
// after it. Orders that the tenant does not have are skipped. decide returns the change of each locked order, or refuses all of
// them with an error. For a change that is nil, only messages are erased. An order of which nothing is erased gets no audit,
// because a pending erasure is repeated.
func (s *Store) ErasePersonalData(
	ctx context.Context, a rules.Audit, ids []string, decide func(current []*rules.Current) ([]*rules.Change, error),
) (records []*ordersv1.Order, err error) {
	var locked []*rules.Current
	var withMessages []string
	err = postgres.ReadThenWrite(ctx, s.pool,
		func(b *pgx.Batch) {
			postgres.QueueSelect(b, &locked, s.scanCurrent, lockOrders, a.TenantID, ids)
			postgres.QueueSelect(b, &withMessages, pgx.RowTo[string], selectWithMessages, a.TenantID, ids)
		},
		func() (func(b *pgx.Batch), error) {
			changes, err := decide(locked)
			if err != nil {
				return nil, err
			}
			records = nil
			for i, change := range changes {
				record := locked[i].Record
				if change != nil {
					record = change.After(locked[i])
				}
				records = append(records, record)
			}
			return s.queueErasure(ctx, a, locked, changes, withMessages)
		})
	if err != nil {
		return nil, fmt.Errorf("erase personal data: %w", err)
	}
	return records, nil
}

// queueErasure erases the messages first, because an order does not change after its event.
func (s *Store) queueErasure(
	ctx context.Context, a rules.Audit, locked []*rules.Current, changes []*rules.Change, withMessages []string,
) (func(b *pgx.Batch), error) {
	var ids []string
	var writes []func(b *pgx.Batch)
	for i, change := range changes {
		audit := a
		audit.OrderID = locked[i].Record.GetId()
		ids = append(ids, audit.OrderID)
		if change == nil {
			if record := locked[i].Record; slices.Contains(withMessages, audit.OrderID) {
				writes = append(writes, func(b *pgx.Batch) { QueueAudit(b, audit, record, record) })
			}
			continue
		}
		write, err := s.queueChange(ctx, 0, locked[i], change, func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
			QueueAudit(b, audit, before.Record, change.After(before))
		})
		if err != nil {
			return nil, err
		}
		writes = append(writes, write)
	}
	return func(b *pgx.Batch) {
		b.Queue(eraseMessages, a.TenantID, ids, rules.Erased)
		for _, write := range writes {
			write(b)
		}
	}, nil
}

// Stale is an order that nobody has worked on for a long time.
type Stale struct {
	TenantID, ID string
	Version      int64
}

// StaleOrders reads up to limit open orders without a change or message for the given time, by the database's clock.
func (s *Store) StaleOrders(ctx context.Context, keep time.Duration, limit int) ([]Stale, error) {
	return postgres.Select(ctx, s.pool, "find stale orders", pgx.RowToStructByPos[Stale], findStale, planPerCall, keep, limit)
}

// QueuePostedWithin adds the look-up whether a message was posted on an order within the given time, by the database's clock.
func QueuePostedWithin(b *pgx.Batch, tenantID, orderID string, keep time.Duration, into *bool) {
	b.Queue(postedWithin, tenantID, orderID, keep).QueryRow(func(row pgx.Row) error { return row.Scan(into) })
}
