package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// ErrNotFound is the answer to an order that does not exist in the tenant.
var ErrNotFound = errors.New("no such order")

const recordColumns = `id, reference, version, external_order_id, external_recipient_id, external_campaign_ref,
  external_action_ref, source, brand_id, campaign_id, catalog_selection, personal_link_id, status, item_kind,
  product_id, product_name, variations, delivery_country, urgent, received_outside_active_hours, carrier,
  tracking_reference, tracking_url, cancellation_reason, created_at, updated_at`

const selectOrder = `SELECT ` + recordColumns + ` FROM orders WHERE tenant_id = $1 AND id = $2`

// Get reads one order's record.
func (s *Store) Get(ctx context.Context, tenantID, id string) (*ordersv1.Order, error) {
	rows, err := s.pool.Query(ctx, selectOrder, tenantID, id)
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	order, err := pgx.CollectExactlyOneRow(rows, recordRow)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read order: %w", err)
	}
	return order, nil
}

func recordRow(row pgx.CollectableRow) (*ordersv1.Order, error) { return scanRecord(row) }

// scanRecord reads recordColumns, and into more what the statement selects behind them.
func scanRecord(row pgx.CollectableRow, more ...any) (*ordersv1.Order, error) {
	o, item := &ordersv1.Order{}, &ordersv1.OrderItem{}
	var source, status, kind string
	var catalogSelection bool
	var carrier, trackingReference, trackingURL *string
	var createdAt, updatedAt time.Time
	into := []any{
		&o.Id, &o.Reference, &o.Version, &o.ExternalOrderId, &o.ExternalRecipientId,
		&o.ExternalCampaignRef, &o.ExternalActionRef, &source, &o.BrandId, &o.CampaignId, &catalogSelection,
		&o.PersonalLinkId, &status, &kind, &item.ProductId, &item.ProductName, &item.Variations,
		&o.DeliveryCountry, &o.Urgent, &o.ReceivedOutsideActiveHours, &carrier, &trackingReference, &trackingURL,
		&o.CancellationReason, &createdAt, &updatedAt,
	}
	if err := row.Scan(append(into, more...)...); err != nil {
		return nil, err
	}
	o.Source = ordersv1.OrderSource(ordersv1.OrderSource_value["ORDER_SOURCE_"+source])
	o.Status = ordersv1.OrderStatus(ordersv1.OrderStatus_value["ORDER_STATUS_"+status])
	item.Kind = ordersv1.ItemKind(ordersv1.ItemKind_value["ITEM_KIND_"+kind])
	o.Items = []*ordersv1.OrderItem{item}
	if catalogSelection {
		o.Selection = ordersv1.OrderSelection_ORDER_SELECTION_CATALOG.Enum()
	}
	if carrier != nil {
		o.Shipments = []*ordersv1.Shipment{{
			Carrier: *carrier, TrackingReference: text(trackingReference), TrackingUrl: text(trackingURL),
		}}
	}
	o.CreatedAt, o.UpdatedAt = timestamppb.New(createdAt), timestamppb.New(updatedAt)
	return o, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
