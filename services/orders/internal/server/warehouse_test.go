package server_test

import (
	"context"
	"sync"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// warehouse keeps one finite SKU by the contract of OrderingService: units move between its stock
// and the holds, and none appears or vanishes.
type warehouse struct {
	catalogv1.OrderingServiceClient

	mu    sync.Mutex
	stock int
	holds map[string]*hold
	// down makes settling fail, as while catalog cannot be reached.
	down error
}

type hold struct {
	key   string
	state string
}

func newWarehouse(stock int) *warehouse { return &warehouse{stock: stock, holds: map[string]*hold{}} }

func (d *desk) stockUp(w *warehouse) {
	d.Catalog, d.recovery.Catalog = w, w
}

func (w *warehouse) CheckItem(
	_ context.Context, r *catalogv1.CheckItemRequest, _ ...grpc.CallOption,
) (*catalogv1.CheckItemResponse, error) {
	resp := &catalogv1.CheckItemResponse{ProductName: "Mug"}
	if r.CampaignId != nil {
		resp.CampaignBrandId, resp.Stocked = brandID, true
	}
	return resp, nil
}

func (w *warehouse) Reserve(_ context.Context, r *catalogv1.ReserveRequest, _ ...grpc.CallOption) (*catalogv1.ReserveResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := string(r.GetReservationKey())
	for id, h := range w.holds {
		if h.key == key && h.state == "RESERVED" {
			return &catalogv1.ReserveResponse{OrderId: id}, nil
		}
	}
	if h := w.holds[r.GetOrderId()]; h != nil && h.key != key {
		return nil, problem.Invalid(problem.Violation{Field: "orderId", Code: problem.FieldInvalid})
	} else if h != nil && h.state == "CONFIRMED" {
		return &catalogv1.ReserveResponse{OrderId: r.GetOrderId()}, nil
	}
	if w.stock == 0 {
		return nil, problem.New(problem.OutOfStock, "none left")
	}
	w.stock--
	w.holds[r.GetOrderId()] = &hold{key: key, state: "RESERVED"}
	return &catalogv1.ReserveResponse{OrderId: r.GetOrderId()}, nil
}

func (w *warehouse) SettleReservations(
	_ context.Context, r *catalogv1.SettleReservationsRequest, _ ...grpc.CallOption,
) (*catalogv1.SettleReservationsResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down != nil {
		return nil, w.down
	}
	for _, id := range r.GetConfirmedOrderIds() {
		if h := w.holds[id]; h != nil && h.state == "RESERVED" {
			h.state = "CONFIRMED"
		}
	}
	for _, id := range r.GetReleasedOrderIds() {
		if h := w.holds[id]; h != nil && h.state != "RELEASED" {
			h.state = "RELEASED"
			w.stock++
		}
	}
	return &catalogv1.SettleReservationsResponse{}, nil
}

// ListExpiredReservations takes every reservation for expired: the hardest case for recovery.
func (w *warehouse) ListExpiredReservations(
	context.Context, *catalogv1.ListExpiredReservationsRequest, ...grpc.CallOption,
) (*catalogv1.ListExpiredReservationsResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	resp := &catalogv1.ListExpiredReservationsResponse{}
	for id, h := range w.holds {
		if h.state == "RESERVED" {
			resp.OrderIds = append(resp.OrderIds, id)
		}
	}
	return resp, nil
}

func (w *warehouse) left() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stock
}
