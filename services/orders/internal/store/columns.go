package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
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

// use says which statements a column is part of.
type use int

const (
	placed   use = 1 << iota // Written when the order is placed.
	changed                  // Written by each later change.
	inRecord                 // Read with the record.
	inFile                   // Read with an order's file (type File).
)

// columns lists every column of an order once. The statements, their arguments and the targets of
// their rows are made from it, so a new column is one line here.
var columns = []column{
	field("tenant_id", placed, func(r *row) *string { return &r.tenantID }),
	field("id", placed|inRecord, func(r *row) *string { return &r.Id }),
	field("reference", placed|inRecord, func(r *row) *string { return &r.Reference }),
	field("version", placed|changed|inRecord, func(r *row) *int64 { return &r.Version }),
	field("external_order_id", placed|inRecord, func(r *row) **string { return &r.ExternalOrderId }),
	field("external_recipient_id", placed|changed|inRecord, func(r *row) **string { return &r.ExternalRecipientId }),
	field("external_campaign_ref", placed|inRecord, func(r *row) **string { return &r.ExternalCampaignRef }),
	field("external_action_ref", placed|changed|inRecord, func(r *row) **string { return &r.ExternalActionRef }),
	enum("source", placed|inRecord, func(r *row) *ordersv1.OrderSource { return &r.Source }),
	field("brand_id", placed|inRecord, func(r *row) *string { return &r.BrandId }),
	field("campaign_id", placed|inRecord, func(r *row) **string { return &r.CampaignId }),
	field("catalog_selection", placed|inRecord, func(r *row) *bool { return &r.catalogSelection }),
	field("personal_link_id", placed|inRecord, func(r *row) **string { return &r.PersonalLinkId }),
	enum("status", placed|changed|inRecord, func(r *row) *ordersv1.OrderStatus { return &r.Status }),
	enum("item_kind", placed|inRecord, func(r *row) *ordersv1.ItemKind { return &r.item.Kind }),
	field("product_id", placed|inRecord, func(r *row) **string { return &r.item.ProductId }),
	field("product_name", placed|changed|inRecord, func(r *row) *string { return &r.item.ProductName }),
	field("variations", placed|inRecord, func(r *row) *map[string]string { return &r.variations }),
	field("delivery_country", placed|inRecord, func(r *row) *string { return &r.DeliveryCountry }),
	field("urgent", placed|changed|inRecord, func(r *row) *bool { return &r.Urgent }),
	field("received_outside_active_hours", placed|inRecord, func(r *row) *bool { return &r.ReceivedOutsideActiveHours }),
	field("carrier", changed|inRecord, func(r *row) **string { return &r.carrier }),
	field("tracking_reference", changed|inRecord, func(r *row) **string { return &r.trackingReference }),
	field("tracking_url", changed|inRecord, func(r *row) **string { return &r.trackingURL }),
	field("cancellation_reason", changed|inRecord, func(r *row) **string { return &r.CancellationReason }),
	instant("created_at", placed|inRecord, func(r *row) **timestamppb.Timestamp { return &r.CreatedAt }),
	instant("updated_at", placed|changed|inRecord, func(r *row) **timestamppb.Timestamp { return &r.UpdatedAt }),

	field("details_sealed", placed|inFile, func(r *row) *[]byte { return &r.sealed }),
	field("budget_amount", placed|inFile, func(r *row) **string { return &r.budgetAmount }).cast("::text::numeric", "::text"),
	field("budget_currency", placed|inFile, func(r *row) **string { return &r.budgetCurrency }),
	field("manager_id", placed|inFile, func(r *row) **string { return &r.fulfilment.ManagerId }),
	field("placed_by_key_id", placed, func(r *row) **int32 { return &r.placedByKeyID }),
	field("placed_by_key_name", placed|inFile, func(r *row) **string { return &r.fulfilment.PlacedByKey }),
	field("after_hours_service_accepted", placed|inFile, func(r *row) *bool { return &r.fulfilment.AfterHoursServiceAccepted }),
	field("branded_packaging_requested", placed|inFile, func(r *row) *bool { return &r.fulfilment.BrandedPackagingRequested }),
}

// Groups of columns and parts of statements, made once.
var (
	placedColumns, changedColumns = columnsFor(placed), columnsFor(changed)
	readColumns, fileColumns      = columnsFor(inRecord), columnsFor(inFile)
	allColumns                    = slices.Concat(readColumns, fileColumns)

	recordColumns = selected(readColumns)
)

// column says how one column is written and read.
type column struct {
	name string
	use  use
	// write returns the argument of a row, read the scan target in a row.
	write, read func(r *row) any
	// Casts of the argument and of the column read.
	argumentCast, readCast string
}

func (c column) cast(argument, read string) column {
	c.argumentCast, c.readCast = argument, read
	return c
}

// field is a column that holds a member unchanged.
func field[T any](name string, u use, at func(r *row) *T) column {
	return column{
		name: name, use: u, write: func(r *row) any { return *at(r) }, read: func(r *row) any { return at(r) },
	}
}

// enum is a column that holds the API's name of a value.
func enum[E enumname.Enum](name string, u use, at func(r *row) *E) column {
	return column{
		name: name, use: u,
		write: func(r *row) any { return enumname.String(*at(r)) }, read: func(r *row) any { return postgres.ScanEnum(at(r)) },
	}
}

func instant(name string, u use, at func(r *row) **timestamppb.Timestamp) column {
	return column{
		name: name, use: u,
		write: func(r *row) any { return (*at(r)).AsTime() }, read: func(r *row) any { return postgres.ScanTime(at(r)) },
	}
}

func columnsFor(u use) (of []column) {
	for _, c := range columns {
		if c.use&u != 0 {
			of = append(of, c)
		}
	}
	return of
}

func selected(of []column) string {
	var names []string
	for _, c := range of {
		names = append(names, c.name+c.readCast)
	}
	return strings.Join(names, ", ")
}

// insertStatement adds an order from the arguments of placedColumns.
func insertStatement() string {
	var names, values []string
	for i, c := range placedColumns {
		names, values = append(names, c.name), append(values, fmt.Sprintf("$%d%s", i+1, c.argumentCast))
	}
	return fmt.Sprintf("INSERT INTO orders (%s) VALUES (%s)", strings.Join(names, ", "), strings.Join(values, ", "))
}

// assignments sets changedColumns to the arguments from $first on.
func assignments(first int) string {
	var set []string
	for i, c := range changedColumns {
		set = append(set, fmt.Sprintf("%s = $%d", c.name, first+i))
	}
	return strings.Join(set, ", ")
}

// arguments appends the values of the columns.
func (r *row) arguments(args []any, of []column) []any {
	args = slices.Grow(args, len(of))
	for _, c := range of {
		args = append(args, c.write(r))
	}
	return args
}

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

func scanOrder(from pgx.CollectableRow) (*ordersv1.Order, error) { return scanRecord(from) }

// scanRecord reads recordColumns, and the further columns of the statement into more.
func scanRecord(from pgx.CollectableRow, more ...any) (*ordersv1.Order, error) {
	r := &row{}
	if err := r.scan(from, readColumns, more...); err != nil {
		return nil, err
	}
	return r.Order, nil
}

func (r *row) scan(from pgx.CollectableRow, of []column, more ...any) error {
	r.item = &ordersv1.OrderItem{}
	r.Order = &ordersv1.Order{Items: []*ordersv1.OrderItem{r.item}}
	targets := make([]any, 0, len(of)+len(more))
	for _, c := range of {
		targets = append(targets, c.read(r))
	}
	if err := from.Scan(append(targets, more...)...); err != nil {
		return err
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
	return nil
}
