// Package rules holds the rules of orders: pure functions of the request, the tenant's settings and the clock.
package rules

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// NewOrder is an order about to be placed: the record that every channel sees, and the parts that only the team and the
// operator see.
type NewOrder struct {
	Placement

	Record  *ordersv1.Order
	Details Details
	// Fulfilment holds further fields for the team and the operator.
	Fulfilment *ordersv1.Fulfilment
	// Reserved means that a unit of campaign stock is held under the order's id.
	Reserved bool
}

// Placement is a checked request with the values that depend on its channel and the settings.
type Placement struct {
	Request  *ordersv1.PlaceOrderRequest
	TenantID string
	OrderID  string
	// CallerChoseID means that the order's id comes from the request. So another order may have it, or it may have been abandoned.
	CallerChoseID bool
	Source        ordersv1.OrderSource
	// ApprovalRequired means that the order waits until the tenant's team approves it.
	ApprovalRequired bool
	BrandID          string
	// Gift is the catalog's answer about the gift; nil for a custom request.
	Gift      *catalogv1.CheckItemResponse
	Answers   []CustomAnswer
	ManagerID *string
	// PlacedByKeyID is 0 if no API key placed the order.
	PlacedByKeyID  int32
	PlacedByKey    string
	PersonalLinkID *string
	// Audit is recorded with the order; it may be nil.
	Audit *Audit
	// AutoAdvance is how the order advances by itself; nil if it waits for people.
	AutoAdvance *AutoAdvance
}

// NewOrder builds the order, the same way for every channel.
func (p Placement) NewOrder(now time.Time, hours *OpeningHours, cell identity.Cell) *NewOrder {
	req := p.Request
	item, budget := p.item()
	record := &ordersv1.Order{
		Id:                         p.OrderID,
		Reference:                  NewReference(cell),
		ExternalOrderId:            fields.Optional(&req.ExternalOrderId),
		Source:                     p.Source,
		BrandId:                    p.BrandID,
		CampaignId:                 req.CampaignId,
		PersonalLinkId:             p.PersonalLinkID,
		Status:                     FirstStatus(p.ApprovalRequired),
		Items:                      []*ordersv1.OrderItem{item},
		DeliveryCountry:            req.GetRecipient().GetAddress().GetCountry(),
		Urgent:                     req.GetUrgent(),
		ReceivedOutsideActiveHours: !hours.Open(now),
		CreatedAt:                  timestamppb.New(now),
		UpdatedAt:                  timestamppb.New(now),
	}
	for _, text := range recordTexts {
		*text.target(record) = fields.Optional(new(text.read(req)))
	}
	if p.PersonalLinkID != nil && req.CampaignId == nil {
		record.Selection = ordersv1.OrderSelection_ORDER_SELECTION_CATALOG.Enum()
	}
	return &NewOrder{
		Placement: p,
		Record:    record,
		Details:   newDetails(req, p.Answers),
		Fulfilment: &ordersv1.Fulfilment{
			Budget:                    budget,
			ManagerId:                 p.ManagerID,
			PlacedByKey:               fields.Optional(&p.PlacedByKey),
			AfterHoursServiceAccepted: req.GetAfterHoursServiceAccepted(),
			BrandedPackagingRequested: req.GetBrandedPackagingRequested(),
		},
		Reserved: p.Gift.GetStocked(),
	}
}

// FirstStatus is the status in which an order begins.
func FirstStatus(approvalRequired bool) ordersv1.OrderStatus {
	if approvalRequired {
		return requested
	}
	return processing
}

func (p Placement) item() (*ordersv1.OrderItem, *commonv1.Money) {
	input := p.Request.GetItems()[0]
	if p.Gift == nil {
		amount, _ := ParseBudget(input.GetBudget().GetAmount()) // CheckPlaceOrder has checked it.
		item := &ordersv1.OrderItem{Kind: ordersv1.ItemKind_ITEM_KIND_CUSTOM, ProductName: input.GetCustomProductName()}
		return item, &commonv1.Money{Amount: amount.String(), Currency: input.GetBudget().GetCurrency()}
	}
	return &ordersv1.OrderItem{
		Kind:        ordersv1.ItemKind_ITEM_KIND_CATALOG,
		ProductId:   input.ProductId,
		ProductName: p.Gift.GetProductName(),
		Variations:  input.GetVariations(),
	}, nil
}

// Event is recorded with the order.
func (o *NewOrder) Event() Event {
	return Event{Type: EventCreated, OccurredAt: o.Record.GetUpdatedAt().AsTime(), Data: o.Record}
}

// Now is the time in the precision of the API and the database: whole microseconds, UTC.
func Now(clock func() time.Time) time.Time { return clock().UTC().Truncate(time.Microsecond) }

// referenceAlphabet has no letters that look like digits.
var referenceAlphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

const referenceBytes = 8

// NewReference makes the reference a person quotes, such as GA-7K3M9-Q2XW4, with the letter of the cell. It is random, so it does
// not reveal the number of orders. A unique index finds collisions.
func NewReference(cell identity.Cell) string {
	raw := make([]byte, referenceBytes)
	_, _ = rand.Read(raw) // It never fails.
	text := referenceAlphabet.EncodeToString(raw)
	return "G" + strings.ToUpper(cell.String()) + "-" + text[:5] + "-" + text[5:10]
}
