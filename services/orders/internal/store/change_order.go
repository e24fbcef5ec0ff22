package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// Action is how one call changes an order; R is its answer.
type Action[R proto.Message] struct {
	TenantID string
	OrderID  string
	// OriginKeyID is the key whose request it is; 0 when it is no key's.
	OriginKeyID int32
	// Read adds further reads to those of the order, behind its lock. Nil: none.
	Read func(b *pgx.Batch, tenantID, orderID string)
	// Decide says what becomes of the order: a pure function. Nil without error: nothing does.
	Decide func(current *rules.Current) (*rules.Change, error)
	// Also adds rows to a change, such as a message or an audit entry. Nil: none.
	Also func(b *pgx.Batch, before *rules.Current, change *rules.Change)
	// Answer makes the answer from the record as it is after the action.
	Answer func(record *ordersv1.Order) R
}

const (
	lockOrder = `SELECT ` + recordColumns + `, details_sealed FROM orders WHERE tenant_id = $1 AND id = $2 FOR UPDATE`

	// A statement of its own: it sees what the lock's last holder committed.
	selectHold = `SELECT order_id FROM reservation_outcomes WHERE outcome = 'PLACED' AND order_id =
  (SELECT COALESCE(stock_hold_id, id) FROM orders WHERE tenant_id = $1 AND id = $2)`

	updateOrder = `UPDATE orders SET version = $3, status = $4, urgent = $5, carrier = $6, tracking_reference = $7,
  tracking_url = $8, cancellation_reason = $9, updated_at = $10, details_sealed = COALESCE($11, details_sealed),
  stock_hold_id = COALESCE($12, stock_hold_id)
WHERE tenant_id = $1 AND id = $2`

	startRelease = `UPDATE reservation_outcomes SET outcome = 'RELEASING', decided_at = now()
WHERE order_id = $1 AND outcome = 'PLACED'`
)

// ChangeOrder locks an order, lets the action decide, and commits the change with its event and the
// stored answer in one transaction of two round trips. Calls on one order run one after the other;
// of two at once the second decides on what the first left. ErrNotFound when the tenant has no such
// order.
func ChangeOrder[R proto.Message](ctx context.Context, s *Store, a Action[R]) (R, error) {
	l := &lockedOrder{current: &rules.Current{TenantID: a.TenantID}}
	read := func(b *pgx.Batch) {
		*l = lockedOrder{current: &rules.Current{TenantID: a.TenantID}}
		b.Queue(lockOrder, a.TenantID, a.OrderID).Query(l.scan)
		b.Queue(selectHold, a.TenantID, a.OrderID).QueryRow(l.scanHold)
		if a.Read != nil {
			a.Read(b, a.TenantID, a.OrderID)
		}
	}
	return idempotency.RunInTx(ctx, s.pool, read, func() (effect idempotency.Effect[R], err error) {
		if l.current.Record == nil {
			return effect, ErrNotFound
		}
		l.current.Details = func() (rules.Details, error) { return s.openDetails(a.OrderID, l.sealed) }
		change, err := a.Decide(l.current)
		if err != nil {
			return effect, err
		}
		if change == nil {
			effect.Answer = a.Answer(l.current.Record)
			return effect, nil
		}
		effect.Answer = a.Answer(after(l.current, change))
		effect.Queue, err = s.queueChange(ctx, a.OriginKeyID, l.current, change, a.Also)
		return effect, err
	})
}

func after(before *rules.Current, change *rules.Change) *ordersv1.Order {
	if change.Record != nil {
		return change.Record
	}
	return before.Record
}

// lockedOrder is what the first round trip read.
type lockedOrder struct {
	current *rules.Current
	sealed  []byte
}

func (l *lockedOrder) scan(rows pgx.Rows) error {
	_, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (_ struct{}, err error) {
		l.current.Record, err = scanRecord(row, &l.sealed)
		l.current.DetailsErased = len(l.sealed) == 0
		return struct{}{}, err
	})
	return err
}

func (l *lockedOrder) scanHold(row pgx.Row) error {
	err := row.Scan(&l.current.StockHold)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

func (s *Store) openDetails(orderID string, sealed []byte) (details rules.Details, err error) {
	plain, err := s.ring.Open(sealed, place(orderID))
	if err != nil {
		return details, fmt.Errorf("open details: %w", err)
	}
	if json.Unmarshal(plain, &details) != nil {
		// The cause could name what it met.
		return details, errDetails
	}
	return details, nil
}

var errDetails = errors.New("sealed details are not what was sealed")

func (s *Store) sealDetails(orderID string, details rules.Details) ([]byte, error) {
	plain, err := json.Marshal(details)
	if err != nil {
		return nil, fmt.Errorf("encode details: %w", err)
	}
	return s.ring.Seal(plain, place(orderID)), nil
}

// queueChange gives the statements of a change: the record, what belongs to it, and last its event.
func (s *Store) queueChange(
	ctx context.Context, origin int32, before *rules.Current, change *rules.Change,
	also func(b *pgx.Batch, before *rules.Current, change *rules.Change),
) (func(b *pgx.Batch), error) {
	args, err := s.changeArgs(before, change)
	if err != nil {
		return nil, err
	}
	event, err := newEvent(origin, before, change.Event)
	if err != nil {
		return nil, err
	}
	return func(b *pgx.Batch) {
		if change.Record != nil {
			b.Queue(updateOrder, args...)
		}
		if change.ReleaseStock && before.StockHold != "" {
			b.Queue(startRelease, before.StockHold)
		}
		if change.TakeStock != "" {
			b.Queue(insertOutcome, change.TakeStock, outcomePlaced)
		}
		if also != nil {
			also(b, before, change)
		}
		if event.Type != "" {
			outbox.Append(ctx, b, event)
		}
	}, nil
}

func (s *Store) changeArgs(before *rules.Current, change *rules.Change) (args []any, err error) {
	if change.Record == nil {
		return nil, nil
	}
	r := change.Record
	var sealed []byte
	if change.Details != nil {
		if sealed, err = s.sealDetails(r.GetId(), *change.Details); err != nil {
			return nil, err
		}
	}
	var carrier, trackingReference, trackingURL *string
	if shipments := r.GetShipments(); len(shipments) > 0 {
		shipment := shipments[0]
		carrier, trackingReference, trackingURL = &shipment.Carrier, &shipment.TrackingReference, &shipment.TrackingUrl
	}
	return []any{
		before.TenantID, r.GetId(), r.GetVersion(), rules.StatusText(r.GetStatus()), r.GetUrgent(), carrier, trackingReference,
		trackingURL, nullable(r.GetCancellationReason()), r.GetUpdatedAt().AsTime(), sealed, nullable(change.TakeStock),
	}, nil
}

func newEvent(origin int32, before *rules.Current, e rules.Event) (outbox.Event, error) {
	if e.Type == "" {
		return outbox.Event{}, nil
	}
	data, err := restjson.Marshal(e.Data)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("encode event: %w", err)
	}
	return outbox.Event{
		ID:          uuid.Must(uuid.NewV7()).String(),
		Type:        e.Type,
		TenantID:    before.TenantID,
		BrandID:     before.Record.GetBrandId(),
		SubjectID:   before.Record.GetId(),
		OriginKeyID: origin,
		OccurredAt:  e.OccurredAt,
		Data:        data,
	}, nil
}
