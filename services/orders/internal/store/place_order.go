package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// Faults of placing an order that the schema finds.
var (
	ErrExternalOrderIDTaken = errors.New("external order id is taken")
	ErrReferenceTaken       = errors.New("reference is taken")
	// ErrReservationAbandoned: the reservation's order id is spent, because recovery gave its stock
	// back before the order committed or an order has it already.
	ErrReservationAbandoned = errors.New("reservation was abandoned")
)

const insertOrder = `INSERT INTO orders (
  tenant_id, id, reference, version, external_order_id, external_recipient_id, external_campaign_ref,
  external_action_ref, source, brand_id, campaign_id, status, item_kind, product_id, product_name,
  variations, budget_amount, budget_currency, delivery_country, urgent, after_hours_service_accepted,
  branded_packaging_requested, received_outside_active_hours, manager_id, placed_by_key_id,
  placed_by_key_name, details_sealed, created_at, updated_at, catalog_selection, personal_link_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17::text::numeric, $18,
  $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31)`

const (
	insertOutcome = `INSERT INTO reservation_outcomes (order_id, outcome) VALUES ($1, $2)`

	outcomePlaced    = "PLACED"
	outcomeUnstocked = "UNSTOCKED"
)

// QueuePlaceOrder returns what adds the order and its event to a transaction.
func (s *Store) QueuePlaceOrder(ctx context.Context, o *rules.NewOrder, e outbox.Event) (func(b *pgx.Batch), error) {
	args, err := s.orderArgs(o)
	if err != nil {
		return nil, err
	}
	return func(b *pgx.Batch) {
		b.Queue(insertOrder, args...)
		switch {
		case o.Reserved:
			b.Queue(insertOutcome, o.Record.GetId(), outcomePlaced)
		case o.Claimed:
			b.Queue(insertOutcome, o.Record.GetId(), outcomeUnstocked)
		}
		outbox.Append(ctx, b, e)
	}, nil
}

func (s *Store) orderArgs(o *rules.NewOrder) ([]any, error) {
	r, item := o.Record, o.Record.GetItems()[0]
	sealed, err := s.sealDetails(r.GetId(), o.Details)
	if err != nil {
		return nil, err
	}
	var amount, currency *string
	if o.Budget != nil {
		text := o.Budget.Amount.String()
		amount, currency = &text, &o.Budget.Currency
	}
	var keyID *int32
	if o.PlacedByKeyID != 0 {
		keyID = &o.PlacedByKeyID
	}
	variations := item.GetVariations()
	if variations == nil {
		variations = map[string]string{}
	}
	return []any{
		o.TenantID, r.GetId(), r.GetReference(), r.GetVersion(), nullable(r.GetExternalOrderId()), nullable(r.GetExternalRecipientId()),
		nullable(r.GetExternalCampaignRef()), nullable(r.GetExternalActionRef()), sourceText(r.GetSource()), r.GetBrandId(),
		nullable(r.GetCampaignId()),
		rules.StatusText(r.GetStatus()), kindText(item.GetKind()), nullable(item.GetProductId()), item.GetProductName(), variations,
		amount, currency, r.GetDeliveryCountry(), r.GetUrgent(), o.AfterHours, o.BrandedPackage,
		r.GetReceivedOutsideActiveHours(), nullable(o.ManagerID), keyID, nullable(o.PlacedByKey),
		sealed, r.GetCreatedAt().AsTime(), r.GetUpdatedAt().AsTime(),
		r.Selection != nil, nullable(r.GetPersonalLinkId()),
	}, nil
}

// nullable is NULL for a member that is unset: a blank one counts as unset long before it gets here.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// place binds sealed details to their order.
func place(orderID string) string { return "orders.details_sealed/" + orderID }

// PlaceOrderError names the fault behind an error of the transaction.
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
		return ErrReservationAbandoned
	}
	return err
}

const selectByExternalID = `SELECT id, brand_id FROM orders WHERE tenant_id = $1 AND external_order_id = $2`

// FindByExternalID gives the id and brand of the tenant's order with the external id.
func (s *Store) FindByExternalID(ctx context.Context, tenantID, externalID string) (id, brandID string, err error) {
	err = s.pool.QueryRow(ctx, selectByExternalID, tenantID, externalID).Scan(&id, &brandID)
	if err != nil {
		return "", "", fmt.Errorf("find order by external id: %w", err)
	}
	return id, brandID, nil
}

// The schema spells enum values as the API does.
func sourceText(s ordersv1.OrderSource) string { return s.String()[len("ORDER_SOURCE_"):] }
func kindText(k ordersv1.ItemKind) string      { return k.String()[len("ITEM_KIND_"):] }
