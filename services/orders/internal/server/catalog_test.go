package server_test

import (
	"context"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// catalog is a fake with one SKU of limited stock, by the contract of OrderingService: units move between stock and holds, and
// none is lost or added. Gifts of a campaign take a unit.
type catalog struct {
	catalogv1.OrderingServiceClient

	// stocked means that gifts without a campaign take a unit too.
	stocked bool
	// checkError and reserveError are returned by CheckItem and Reserve.
	checkError, reserveError error
	// preview is returned by PreviewItem, with these errors added.
	preview *catalogv1.PreviewItemResponse
	// asked is the last request of PreviewItem; nil if there was none.
	asked *catalogv1.PreviewItemRequest

	mu sync.Mutex
	// checks counts calls of CheckItem, checked is the last request.
	checks              int
	checked             *catalogv1.CheckItemRequest
	stock               int
	holds               map[string]*hold
	confirmed, released []string
	// reportError is returned by SettleReservations.
	reportError error
}

type hold struct{ key, state string }

func newCatalog() *catalog { return &catalog{stock: 1000, holds: map[string]*hold{}} }

// failReports makes every report of confirmed and released reservations fail with err; nil lets them succeed again.
func (c *catalog) failReports(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reportError = err
}

func (c *catalog) unitsLeft() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stock
}

func (c *catalog) CheckItem(
	_ context.Context, r *catalogv1.CheckItemRequest, _ ...grpc.CallOption,
) (*catalogv1.CheckItemResponse, error) {
	c.mu.Lock()
	c.checks++
	c.checked = r
	c.mu.Unlock()
	resp := &catalogv1.CheckItemResponse{ProductName: "Mug", Stocked: c.stocked}
	if r.CampaignId != nil {
		resp.CampaignBrandId, resp.Stocked = brandID, true
	}
	return resp, c.checkError
}

func (c *catalog) PreviewItem(
	_ context.Context, r *catalogv1.PreviewItemRequest, _ ...grpc.CallOption,
) (*catalogv1.PreviewItemResponse, error) {
	c.asked = r
	resp := proto.CloneOf(c.preview)
	if resp == nil {
		resp = &catalogv1.PreviewItemResponse{}
	}
	p, ok := problem.As(c.checkError)
	if c.checkError != nil && (!ok || p.Code == problem.ServiceUnavailable) {
		return nil, c.checkError
	}
	for _, err := range []error{c.checkError, c.reserveError} {
		if p, ok := problem.As(err); ok {
			reported := &catalogv1.ItemProblem{Code: string(p.Code), Detail: p.Detail}
			for _, v := range p.Violations {
				reported.Violations = append(reported.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code, Message: v.Message})
			}
			resp.Problems = append(resp.Problems, reported)
		}
	}
	return resp, nil
}

func (c *catalog) Reserve(
	_ context.Context, r *catalogv1.ReserveRequest, _ ...grpc.CallOption,
) (*catalogv1.ReserveResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reserveError != nil {
		return nil, c.reserveError
	}
	key := string(r.GetReservationKey())
	for id, h := range c.holds {
		if h.key == key && h.state == "RESERVED" {
			return &catalogv1.ReserveResponse{OrderId: id}, nil
		}
	}
	if h := c.holds[r.GetOrderId()]; h != nil && h.key != key {
		return nil, problem.Invalid(problem.Violation{Field: "orderId", Code: problem.FieldInvalid})
	} else if h != nil && h.state == "CONFIRMED" {
		return &catalogv1.ReserveResponse{OrderId: r.GetOrderId()}, nil
	}
	if c.stock == 0 {
		return nil, problem.New(problem.OutOfStock, "none left")
	}
	c.stock--
	c.holds[r.GetOrderId()] = &hold{key, "RESERVED"}
	return &catalogv1.ReserveResponse{OrderId: r.GetOrderId()}, nil
}

func (c *catalog) SettleReservations(
	_ context.Context, r *catalogv1.SettleReservationsRequest, _ ...grpc.CallOption,
) (*catalogv1.SettleReservationsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reportError != nil {
		return nil, c.reportError
	}
	for _, id := range r.GetConfirmedOrderIds() {
		if h := c.holds[id]; h != nil && h.state == "RESERVED" {
			h.state = "CONFIRMED"
			c.confirmed = append(c.confirmed, id)
		}
	}
	for _, id := range r.GetReleasedOrderIds() {
		if h := c.holds[id]; h != nil && h.state != "RELEASED" {
			h.state = "RELEASED"
			c.stock++
			c.released = append(c.released, id)
		}
	}
	return &catalogv1.SettleReservationsResponse{}, nil
}

// ListExpiredReservations lists every reservation as expired: the hardest case for the reconciler.
func (c *catalog) ListExpiredReservations(
	context.Context, *catalogv1.ListExpiredReservationsRequest, ...grpc.CallOption,
) (*catalogv1.ListExpiredReservationsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resp := &catalogv1.ListExpiredReservationsResponse{}
	for id, h := range c.holds {
		if h.state == "RESERVED" {
			resp.Reservations = append(resp.Reservations, &catalogv1.ExpiredReservation{TenantId: tenantID, OrderId: id})
		}
	}
	return resp, nil
}
