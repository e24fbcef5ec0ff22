package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// Errors of placing an order that the schema finds.
var (
	ErrExternalOrderIDTaken = errors.New("external order id is taken")
	ErrReferenceTaken       = errors.New("reference is taken")
	// ErrOrderIDSpent means that another order has the id, or that the reconciler abandoned the id before this order committed.
	ErrOrderIDSpent = errors.New("order id is spent")
	// ErrLinkOrdered means that the personal link has an order under another id.
	ErrLinkOrdered = errors.New("personal link has an order")
)

const (
	insertOutcome = `INSERT INTO reservation_outcomes (tenant_id, order_id, outcome) VALUES ($1, $2, $3)`

	outcomePlaced    = "PLACED"
	outcomeUnstocked = "UNSTOCKED"
)

var insertOrder = placedColumns.Insert("orders")

// QueuePlaceOrder returns a function that adds the order and its event to a transaction.
func (s *Store) QueuePlaceOrder(ctx context.Context, o *rules.NewOrder) (func(b *pgx.Batch), error) {
	sealed, err := s.sealDetails(o.Record.GetId(), o.Details)
	if err != nil {
		return nil, err
	}
	event, err := s.newEvent(o.TenantID, o.Record, o.PlacedByKeyID, o.Event())
	if err != nil {
		return nil, err
	}
	args := placedColumns.Args(placedRow(o, sealed))
	return func(b *pgx.Batch) {
		if o.Audit != nil {
			QueueAudit(b, *o.Audit, nil, o.Record)
		}
		b.Queue(insertOrder, args...)
		switch {
		case o.Reserved:
			b.Queue(insertOutcome, o.TenantID, o.Record.GetId(), outcomePlaced)
		case o.CallerChoseID:
			b.Queue(insertOutcome, o.TenantID, o.Record.GetId(), outcomeUnstocked)
		}
		queueAutoAdvance(b, o)
		outbox.Append(ctx, b, event)
	}, nil
}

// PlaceOrderError translates an error of the transaction.
func PlaceOrderError(err error) error {
	constraint, ok := postgres.UniqueViolation(err)
	if !ok {
		return err
	}
	switch constraint {
	case "orders_external_order_id":
		return ErrExternalOrderIDTaken
	case "orders_reference":
		return ErrReferenceTaken
	case "reservation_outcomes_pkey", "orders_pkey":
		return ErrOrderIDSpent
	case "orders_personal_link":
		return ErrLinkOrdered
	}
	return err
}

const selectByExternalID = `SELECT id, brand_id FROM orders WHERE tenant_id = $1 AND external_order_id = $2`

// FindByExternalID returns the id and brand of the tenant's order with the external id. It returns ErrNotFound if there is none.
func (s *Store) FindByExternalID(ctx context.Context, tenantID, externalID string) (id, brandID string, err error) {
	err = s.pool.QueryRow(ctx, selectByExternalID, tenantID, externalID).Scan(&id, &brandID)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", ErrNotFound
	}
	if err != nil {
		return "", "", fmt.Errorf("find order by external id: %w", err)
	}
	return id, brandID, nil
}
