package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// Action is how one call changes an order; R is its response.
type Action[R proto.Message] struct {
	TenantID string
	OrderID  string
	// OriginKeyID is the key that made the request; 0 if no key did.
	OriginKeyID int32
	// ReadMore adds further reads, which run after the order is locked. Nil: none.
	ReadMore func(b *pgx.Batch, tenantID, orderID string)
	// Decide returns the change of the order, nil for none. It is a pure function.
	Decide func(current *rules.Current) (*rules.Change, error)
	// WriteMore adds rows to a change, such as a message or an audit entry. Nil: none.
	WriteMore func(b *pgx.Batch, before *rules.Current, change *rules.Change)
	// Answer makes the response from the record after the action.
	Answer func(record *ordersv1.Order) R
}

const (
	// A separate statement, so that it sees what the previous holder of the lock committed.
	selectHold = `SELECT order_id FROM reservation_outcomes WHERE tenant_id = $1 AND outcome = 'PLACED' AND order_id =
  (SELECT COALESCE(stock_hold_id, id) FROM orders WHERE tenant_id = $1 AND id = $2)`

	eraseDetailsOf = `UPDATE orders SET details_sealed = '', details_erased_at = now()
WHERE tenant_id = $1 AND id = $2 AND details_erased_at IS NULL`

	startRelease = `UPDATE reservation_outcomes SET outcome = 'RELEASING', decided_at = now()
WHERE order_id = $1 AND outcome = 'PLACED'`
)

var (
	lockOrder = `SELECT ` + lockedColumns.Select() + ` FROM orders WHERE tenant_id = $1 AND id = $2 FOR UPDATE`

	updateOrder = `UPDATE orders SET details_sealed = COALESCE($3, details_sealed), stock_hold_id = COALESCE($4, stock_hold_id),
  ` + changedColumns.Set(5) + ` WHERE tenant_id = $1 AND id = $2`
)

// ChangeOrder locks an order, lets the action decide, and commits the change with its event and the stored answer in one
// transaction of two round trips. Calls on one order run one after another; of two concurrent ones, the second sees the changes
// of the first. It returns ErrNotFound if the tenant has no such order.
func ChangeOrder[R proto.Message](ctx context.Context, s *Store, a Action[R]) (R, error) {
	var current *rules.Current
	var hold string
	read := func(b *pgx.Batch) {
		postgres.QueueSelectFirst(b, &current, s.scanCurrent, lockOrder, a.TenantID, a.OrderID)
		postgres.QueueSelectFirst(b, &hold, pgx.RowTo[string], selectHold, a.TenantID, a.OrderID)
		if a.ReadMore != nil {
			a.ReadMore(b, a.TenantID, a.OrderID)
		}
	}
	return idempotency.RunInTx(ctx, s.pool, read, func() (effect idempotency.Effect[R], err error) {
		if current == nil {
			return effect, ErrNotFound
		}
		effect.Record.BrandID = current.Record.GetBrandId()
		current.StockHold = hold
		change, err := a.Decide(current)
		if err != nil {
			return effect, err
		}
		if change == nil {
			effect.Answer = a.Answer(current.Record)
			return effect, nil
		}
		effect.Answer = a.Answer(change.After(current))
		effect.Queue, err = s.queueChange(ctx, a.OriginKeyID, current, change, a.WriteMore)
		return effect, err
	})
}

// scanCurrent reads lockedColumns.
func (s *Store) scanCurrent(from pgx.CollectableRow) (*rules.Current, error) {
	r, err := scanRow(from, lockedColumns)
	if err != nil {
		return nil, err
	}
	return &rules.Current{
		TenantID: r.tenantID, Record: r.Order, DetailsErased: len(r.sealed) == 0,
		Details: func() (rules.Details, error) { return s.openDetails(r.GetId(), r.sealed) },
	}, nil
}

// queueChange returns the statements of a change: first the record and related rows, last the event.
func (s *Store) queueChange(
	ctx context.Context, originKeyID int32, before *rules.Current, change *rules.Change,
	writeMore func(b *pgx.Batch, before *rules.Current, change *rules.Change),
) (func(b *pgx.Batch), error) {
	args, err := s.changeArguments(before.TenantID, change)
	if err != nil {
		return nil, err
	}
	var event outbox.Event
	if change.Event.Type != "" {
		if event, err = s.newEvent(before.TenantID, before.Record, originKeyID, change.Event); err != nil {
			return nil, err
		}
	}
	return func(b *pgx.Batch) {
		if change.Record != nil {
			b.Queue(updateOrder, args...)
		}
		if change.EraseDetails {
			b.Queue(eraseDetailsOf, before.TenantID, before.Record.GetId())
		}
		if change.ReleaseStock && before.StockHold != "" {
			b.Queue(startRelease, before.StockHold)
		}
		if change.TakeStock != "" {
			b.Queue(insertOutcome, before.TenantID, change.TakeStock, outcomePlaced)
		}
		if writeMore != nil {
			writeMore(b, before, change)
		}
		if event.Type != "" {
			outbox.Append(ctx, b, event)
		}
	}, nil
}

// changeArguments are the arguments of updateOrder; nil if the record does not change.
func (s *Store) changeArguments(tenantID string, change *rules.Change) (args []any, err error) {
	if change.Record == nil {
		return nil, nil
	}
	var sealed []byte
	if change.Details != nil {
		if sealed, err = s.sealDetails(change.Record.GetId(), *change.Details); err != nil {
			return nil, err
		}
	}
	return changedColumns.Args(recordRow(change.Record), tenantID, change.Record.GetId(), sealed,
		postgres.Nullable(change.TakeStock)), nil
}
