package store

import (
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// row is a row of the table orders.
type row struct {
	*ordersv1.Order

	item          *ordersv1.OrderItem
	fulfilment    *ordersv1.Fulfilment
	tenantID      string
	placedByKeyID *int32
	sealed        []byte
	// Columns whose form in the record is different.
	catalogSelection                        bool
	variations                              map[string]string
	carrier, trackingReference, trackingURL *string
	budgetAmount, budgetCurrency            *string
}

const (
	placed   postgres.Use = 1 << iota // Written when the order is placed.
	changed                           // Written by each later change.
	inRecord                          // Read with the record.
	inFull                            // Read beside the record with a full order (type FullOrder).
	inLock                            // Read beside the record when the order is locked.
	inSearch                          // Read beside the record by a search.
)

// columns are those of an order, except stock_hold_id and details_erased_at, which have statements of their own.
var columns = postgres.Columns[row]{
	postgres.Field("tenant_id", placed|inLock|inSearch, func(r *row) *string { return &r.tenantID }),
	postgres.Field("id", placed|inRecord, func(r *row) *string { return &r.Id }),
	postgres.Field("reference", placed|inRecord, func(r *row) *string { return &r.Reference }),
	postgres.Field("version", placed|changed|inRecord, func(r *row) *int64 { return &r.Version }),
	postgres.Field("external_order_id", placed|inRecord, func(r *row) **string { return &r.ExternalOrderId }),
	postgres.Field("external_recipient_id", placed|changed|inRecord, func(r *row) **string { return &r.ExternalRecipientId }),
	postgres.Field("external_campaign_ref", placed|inRecord, func(r *row) **string { return &r.ExternalCampaignRef }),
	postgres.Field("external_action_ref", placed|changed|inRecord, func(r *row) **string { return &r.ExternalActionRef }),
	postgres.EnumField("source", placed|inRecord, func(r *row) *ordersv1.OrderSource { return &r.Source }),
	postgres.Field("brand_id", placed|inRecord, func(r *row) *string { return &r.BrandId }),
	postgres.Field("campaign_id", placed|inRecord, func(r *row) **string { return &r.CampaignId }),
	postgres.Field("catalog_selection", placed|inRecord, func(r *row) *bool { return &r.catalogSelection }),
	postgres.Field("personal_link_id", placed|inRecord, func(r *row) **string { return &r.PersonalLinkId }),
	postgres.EnumField("status", placed|changed|inRecord, func(r *row) *ordersv1.OrderStatus { return &r.Status }),
	postgres.EnumField("item_kind", placed|inRecord, func(r *row) *ordersv1.ItemKind { return &r.item.Kind }),
	postgres.Field("product_id", placed|inRecord, func(r *row) **string { return &r.item.ProductId }),
	postgres.Field("product_name", placed|changed|inRecord, func(r *row) *string { return &r.item.ProductName }),
	postgres.Field("variations", placed|inRecord, func(r *row) *map[string]string { return &r.variations }),
	postgres.Field("delivery_country", placed|inRecord, func(r *row) *string { return &r.DeliveryCountry }),
	postgres.Field("urgent", placed|changed|inRecord, func(r *row) *bool { return &r.Urgent }),
	postgres.Field("received_outside_active_hours", placed|inRecord, func(r *row) *bool { return &r.ReceivedOutsideActiveHours }),
	postgres.Field("carrier", changed|inRecord, func(r *row) **string { return &r.carrier }),
	postgres.Field("tracking_reference", changed|inRecord, func(r *row) **string { return &r.trackingReference }),
	postgres.Field("tracking_url", changed|inRecord, func(r *row) **string { return &r.trackingURL }),
	postgres.Field("cancellation_reason", changed|inRecord, func(r *row) **string { return &r.CancellationReason }),
	postgres.TimeField("created_at", placed|inRecord, func(r *row) **timestamppb.Timestamp { return &r.CreatedAt }),
	postgres.TimeField("updated_at", placed|changed|inRecord, func(r *row) **timestamppb.Timestamp { return &r.UpdatedAt }),

	postgres.Field("details_sealed", placed|inFull|inLock, func(r *row) *[]byte { return &r.sealed }),
	postgres.Field("budget_amount", placed|inFull, func(r *row) **string { return &r.budgetAmount }).Cast("::text::numeric", "::text"),
	postgres.Field("budget_currency", placed|inFull, func(r *row) **string { return &r.budgetCurrency }),
	postgres.Field("manager_id", placed|inFull, func(r *row) **string { return &r.fulfilment.ManagerId }),
	postgres.Field("placed_by_key_id", placed, func(r *row) **int32 { return &r.placedByKeyID }),
	postgres.Field("placed_by_key_name", placed|inFull, func(r *row) **string { return &r.fulfilment.PlacedByKey }),
	postgres.Field("after_hours_service_accepted", placed|inFull,
		func(r *row) *bool { return &r.fulfilment.AfterHoursServiceAccepted }),
	postgres.Field("branded_packaging_requested", placed|inFull,
		func(r *row) *bool { return &r.fulfilment.BrandedPackagingRequested }),
}

var (
	placedColumns, changedColumns = columns.For(placed), columns.For(changed)
	recordColumns, fullColumns    = columns.For(inRecord), columns.For(inRecord | inFull)
	lockedColumns, foundColumns   = columns.For(inRecord | inLock), columns.For(inRecord | inSearch)
)

// recordRow is the row of a record, without the columns that only placing writes.
func recordRow(o *ordersv1.Order) *row {
	r := &row{Order: o, item: o.GetItems()[0], catalogSelection: o.Selection != nil, variations: o.GetItems()[0].GetVariations()}
	if r.variations == nil {
		r.variations = map[string]string{}
	}
	if shipments := o.GetShipments(); len(shipments) > 0 {
		s := shipments[0]
		r.carrier, r.trackingReference, r.trackingURL = &s.Carrier, &s.TrackingReference, &s.TrackingUrl
	}
	return r
}

// placedRow is the row of a new order.
func placedRow(o *rules.NewOrder, sealed []byte) *row {
	r := recordRow(o.Record)
	r.tenantID, r.sealed, r.fulfilment = o.TenantID, sealed, o.Fulfilment
	if o.PlacedByKeyID != 0 {
		r.placedByKeyID = &o.PlacedByKeyID
	}
	if budget := o.Fulfilment.GetBudget(); budget != nil {
		r.budgetAmount, r.budgetCurrency = &budget.Amount, &budget.Currency
	}
	return r
}

func scanOrder(from pgx.CollectableRow) (*ordersv1.Order, error) {
	r, err := scanRow(from, recordColumns)
	return r.Order, err
}

func scanRow(from pgx.CollectableRow, of postgres.Columns[row]) (*row, error) {
	r := &row{item: &ordersv1.OrderItem{}, fulfilment: &ordersv1.Fulfilment{}}
	r.Order = &ordersv1.Order{Items: []*ordersv1.OrderItem{r.item}}
	if err := from.Scan(of.Targets(r)...); err != nil {
		return r, err
	}
	r.item.Variations = r.variations
	if r.catalogSelection {
		r.Selection = ordersv1.OrderSelection_ORDER_SELECTION_CATALOG.Enum()
	}
	if r.carrier != nil {
		r.Shipments = []*ordersv1.Shipment{{
			Carrier: *r.carrier, TrackingReference: postgres.Value(r.trackingReference), TrackingUrl: postgres.Value(r.trackingURL),
		}}
	}
	if r.budgetAmount != nil {
		r.fulfilment.Budget = &commonv1.Money{Amount: *r.budgetAmount, Currency: postgres.Value(r.budgetCurrency)}
	}
	return r, nil
}
