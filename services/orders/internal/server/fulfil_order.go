package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ApproveOrder approves a requested order, so that it can be fulfilled.
func (s *Server) ApproveOrder(ctx context.Context, req *ordersv1.ApproveOrderRequest) (*ordersv1.ApproveOrderResponse, error) {
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_APPROVE, req, s.approve, caller.RequestErrors(ctx))
	return &ordersv1.ApproveOrderResponse{Order: order}, err
}

func (s *Server) approve(current *rules.Current) (*rules.Change, error) {
	return current.Apply(rules.Approve, s.now(), nil)
}

// DispatchOrder marks an order as sent, with its shipment.
func (s *Server) DispatchOrder(ctx context.Context, req *ordersv1.DispatchOrderRequest) (*ordersv1.DispatchOrderResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckShipment(req.GetShipment(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_DISPATCH, req, func(current *rules.Current) (*rules.Change, error) {
		return rules.DispatchOrder(current, req.GetShipment(), s.now())
	}, errs)
	return &ordersv1.DispatchOrderResponse{Order: order}, err
}

// DeliverOrder completes an order that was delivered.
func (s *Server) DeliverOrder(ctx context.Context, req *ordersv1.DeliverOrderRequest) (*ordersv1.DeliverOrderResponse, error) {
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_DELIVER, req, s.deliver, caller.RequestErrors(ctx))
	return &ordersv1.DeliverOrderResponse{Order: order}, err
}

func (s *Server) deliver(current *rules.Current) (*rules.Change, error) {
	return current.Apply(rules.Deliver, s.now(), nil)
}

// CorrectTracking replaces the shipment of a sent order.
func (s *Server) CorrectTracking(
	ctx context.Context, req *ordersv1.CorrectTrackingRequest,
) (*ordersv1.CorrectTrackingResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckShipment(req.GetShipment(), errs)
	order, err := s.operate(ctx, ordersv1.Operation_OPERATION_CORRECT_TRACKING, req,
		func(current *rules.Current) (*rules.Change, error) {
			return rules.CorrectShipment(current, req.GetShipment(), s.now())
		}, errs)
	return &ordersv1.CorrectTrackingResponse{Order: order}, err
}
