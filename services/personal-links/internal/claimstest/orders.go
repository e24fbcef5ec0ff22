// Package claimstest is a fake of the orders service for tests of claims.
package claimstest

import (
	"context"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Orders implements the contract of ClaimsService: one order per id and per link, and none after the id was abandoned.
type Orders struct {
	ordersv1.ClaimsServiceClient

	mu        sync.Mutex
	placed    map[string]*ordersv1.PlaceClaimedOrderRequest
	created   map[string]time.Time
	abandoned map[string]bool
	refusal   error
	during    func()
	// sent are when orders were dispatched.
	sent map[string]time.Time
	// corrections are those of players.
	corrections []*ordersv1.CorrectClaimedOrderRequest
	// thanks are what players have written, by order.
	thanks map[string]string
	// erased means that the details of all orders are.
	erased bool
}

// New makes a fake without orders.
func New() *Orders {
	return &Orders{
		placed: map[string]*ordersv1.PlaceClaimedOrderRequest{}, created: map[string]time.Time{}, abandoned: map[string]bool{},
		sent: map[string]time.Time{}, thanks: map[string]string{},
	}
}

// Refuse makes every further order fail with err; with nil, orders succeed again.
func (o *Orders) Refuse(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refusal = err
}

// Erase erases the details of all orders.
func (o *Orders) Erase() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.erased = true
}

// During calls call once while the next order is being placed.
func (o *Orders) During(call func()) { o.during = call }

// Place places an order as a claim would.
func (o *Orders) Place(orderID string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.place(orderID, &ordersv1.PlaceClaimedOrderRequest{})
}

func (o *Orders) place(orderID string, r *ordersv1.PlaceClaimedOrderRequest) {
	o.placed[orderID], o.created[orderID] = proto.CloneOf(r), time.Now()
}

// Placed returns the requests of the placed orders by the orders' ids.
func (o *Orders) Placed() map[string]*ordersv1.PlaceClaimedOrderRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.placed
}

// Of lists the orders of a link.
func (o *Orders) Of(linkID string) (ids []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, r := range o.placed {
		if r.GetPersonalLinkId() == linkID {
			ids = append(ids, id)
		}
	}
	return ids
}

// CreatedAt returns when an order was placed.
func (o *Orders) CreatedAt(orderID string) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.created[orderID]
}

// PlaceClaimedOrder implements ClaimsServiceClient.
func (o *Orders) PlaceClaimedOrder(
	_ context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	if during := o.during; during != nil {
		o.during = nil
		during()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if order := o.find(r.GetOrderId(), r.GetPersonalLinkId()); order != nil {
		return &ordersv1.PlaceClaimedOrderResponse{Order: order}, nil
	}
	if o.abandoned[r.GetOrderId()] {
		return &ordersv1.PlaceClaimedOrderResponse{}, nil
	}
	if o.refusal != nil {
		return nil, o.refusal
	}
	o.place(r.GetOrderId(), r)
	return &ordersv1.PlaceClaimedOrderResponse{Order: o.find(r.GetOrderId(), "")}, nil
}

// find returns the order with the id, or another one of the link.
func (o *Orders) find(orderID, linkID string) *ordersv1.Order {
	if _, ok := o.placed[orderID]; !ok {
		orderID = ""
		for id, r := range o.placed {
			if linkID != "" && r.GetPersonalLinkId() == linkID {
				orderID = id
			}
		}
	}
	if orderID == "" {
		return nil
	}
	order := Order(orderID)
	order.CreatedAt = timestamppb.New(o.created[orderID])
	return order
}

// AbandonClaimedOrder implements ClaimsServiceClient.
func (o *Orders) AbandonClaimedOrder(
	_ context.Context, r *ordersv1.AbandonClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	order := o.find(r.GetOrderId(), r.GetPersonalLinkId())
	if order.GetId() != r.GetOrderId() {
		o.abandoned[r.GetOrderId()] = true
	}
	return &ordersv1.AbandonClaimedOrderResponse{Order: order}, nil
}

// GetClaimedOrder implements ClaimsServiceClient.
func (o *Orders) GetClaimedOrder(
	_ context.Context, r *ordersv1.GetClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.GetClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.PhoneDigits != nil && o.refusal != nil {
		return nil, o.refusal
	}
	placed, ok := o.placed[r.GetOrderId()]
	if !ok || placed.GetPersonalLinkId() != r.GetPersonalLinkId() || placed.GetTenantId() != r.GetTenantId() {
		return nil, problem.RecordNotFound()
	}
	order := Order(r.GetOrderId())
	order.Status, order.Version = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING, int64(len(o.corrections))
	order.Items = []*ordersv1.OrderItem{{ProductId: &placed.ProductId, ProductName: "Jersey", Variations: placed.GetVariations()}}
	resp := &ordersv1.GetClaimedOrderResponse{Order: order}
	sentAt, sent := o.sent[r.GetOrderId()]
	if sent {
		order.Status = ordersv1.OrderStatus_ORDER_STATUS_SENT
		order.Shipments = []*ordersv1.Shipment{{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://post.example/T-1"}}
	}
	if r.GetWithRecipient() && !o.erased {
		resp.Customization = placed.GetCustomization().GetDetails()
		resp.MaskedRecipient = &ordersv1.OrderRecipient{Name: "M•••", Address: &ordersv1.OrderAddress{Street: "St•••", Country: "SE"}}
		if r.PhoneDigits != nil {
			number := strings.ReplaceAll(placed.GetRecipient().GetPhone(), " ", "")
			resp.PhoneMatches = new(strings.HasSuffix(number, r.GetPhoneDigits()))
		}
	}
	if r.GetWithRecipient() {
		resp.Thanks = o.thanks[r.GetOrderId()]
		resp.AcceptsThanks = resp.GetThanks() == ""
	}
	if r.GetWithRecipient() && sent {
		resp.SentAt, resp.DeliveredAt = timestamppb.New(sentAt), timestamppb.New(sentAt.Add(time.Hour))
	}
	return resp, nil
}

// CorrectedByOthers raises the version of the orders.
func (o *Orders) CorrectedByOthers() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.corrections = append(o.corrections, nil)
}

// CorrectClaimedOrder implements ClaimsServiceClient. Only the version is checked, unless the last correction is sent again.
func (o *Orders) CorrectClaimedOrder(
	_ context.Context, r *ordersv1.CorrectClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.CorrectClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refusal != nil {
		return nil, o.refusal
	}
	again := len(o.corrections) > 0 && proto.Equal(r, o.corrections[len(o.corrections)-1])
	if r.GetExpectedVersion() != int64(len(o.corrections)) && !again {
		return nil, problem.New(problem.VersionConflict, "no")
	}
	if !again {
		o.corrections = append(o.corrections, r)
	}
	order := Order(r.GetOrderId())
	order.Version = int64(len(o.corrections))
	return &ordersv1.CorrectClaimedOrderResponse{Order: order}, nil
}

// ThankForClaimedOrder implements ClaimsServiceClient.
func (o *Orders) ThankForClaimedOrder(
	_ context.Context, r *ordersv1.ThankForClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.ThankForClaimedOrderResponse, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refusal != nil {
		return nil, o.refusal
	}
	if _, posted := o.thanks[r.GetOrderId()]; !posted {
		o.thanks[r.GetOrderId()] = r.GetText()
	}
	return &ordersv1.ThankForClaimedOrderResponse{}, nil
}

// Send dispatches an order. Its player learns that it was delivered an hour later.
func (o *Orders) Send(orderID string, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent[orderID] = at
}

// Corrections returns the corrections of players.
func (o *Orders) Corrections() []*ordersv1.CorrectClaimedOrderRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.corrections
}

// Order is the order with the id.
func Order(id string) *ordersv1.Order {
	return &ordersv1.Order{Id: id, Reference: "GA-" + id[len(id)-5:]}
}
