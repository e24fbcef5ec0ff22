package server

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

const maxReservationKey = 256

// Reserve takes one unit of a SKU for an order about to be placed. An expired reservation is returned unchanged, so that its
// order does not commit: it may be released at any time. If the reservation was confirmed or released, the same key makes a new
// one: the order of the old one exists or never will.
func (s *service) Reserve(ctx context.Context, req *catalogv1.ReserveRequest) (*catalogv1.ReserveResponse, error) {
	errs := caller.RequestErrors(ctx)
	if n := len(req.GetReservationKey()); n == 0 || n > maxReservationKey {
		errs.Add("reservationKey", problem.FieldInvalid, "must have 1 to 256 bytes")
	}
	attempt := store.Attempt{
		Key:           req.GetReservationKey(),
		OrderID:       errs.UUID("orderId", req.GetOrderId()),
		TenantID:      errs.UUID("tenantId", req.GetTenantId()),
		CampaignID:    errs.UUID("campaignId", req.GetCampaignId()),
		ProductID:     errs.UUID("productId", req.GetProductId()),
		VariationsKey: rules.VariationsKey(req.GetVariations()),
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return s.Store.Reserve(ctx, attempt, s.ttl)
}

// SettleReservations confirms and releases reservations. It ignores orders without one.
func (s *service) SettleReservations(
	ctx context.Context, req *catalogv1.SettleReservationsRequest,
) (*catalogv1.SettleReservationsResponse, error) {
	errs := caller.RequestErrors(ctx)
	confirmed := orderIDs("confirmedOrderIds", req.GetConfirmedOrderIds(), errs)
	released := orderIDs("releasedOrderIds", req.GetReleasedOrderIds(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if len(confirmed)+len(released) == 0 {
		return &catalogv1.SettleReservationsResponse{}, nil
	}
	return &catalogv1.SettleReservationsResponse{}, s.Store.ConfirmAndRelease(ctx, confirmed, released)
}

func orderIDs(field string, values []string, errs *fields.Errors) []string {
	ids := make([]string, len(values))
	for i, v := range values {
		ids[i] = errs.UUID(fmt.Sprintf("%s[%d]", field, i), v)
	}
	return ids
}

// ListExpiredReservations lists the reservations that were not confirmed or released in time.
func (s *service) ListExpiredReservations(
	ctx context.Context, req *catalogv1.ListExpiredReservationsRequest,
) (*catalogv1.ListExpiredReservationsResponse, error) {
	const maxExpired = 1000
	errs := caller.RequestErrors(ctx)
	if req.GetLimit() < 1 || req.GetLimit() > maxExpired {
		errs.Add("limit", problem.FieldInvalid, "must be between 1 and 1000")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	expired, err := s.Store.ExpiredReservations(ctx, int(req.GetLimit()), s.ttl)
	return &catalogv1.ListExpiredReservationsResponse{Reservations: expired}, err
}

const maxReservations = 5000

// ListReservations lists the reservations that hold stock, or those of some orders.
func (s *service) ListReservations(
	ctx context.Context, req *catalogv1.ListReservationsRequest,
) (*catalogv1.ListReservationsResponse, error) {
	errs := caller.RequestErrors(ctx)
	after := uuid.Nil.String()
	if id := errs.OptionalUUID("afterOrderId", req.AfterOrderId); id != nil {
		after = *id
	}
	named := orderIDs("orderIds", req.GetOrderIds(), errs)
	switch {
	case len(named) > maxReservations:
		errs.Add("orderIds", problem.FieldInvalid, "must hold at most 5000 ids")
	case len(named) == 0 && (req.GetLimit() < 1 || req.GetLimit() > maxReservations):
		errs.Add("limit", problem.FieldInvalid, "must be between 1 and 5000")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	resp := &catalogv1.ListReservationsResponse{}
	var err error
	if len(named) > 0 {
		resp.Reservations, err = s.Store.ReservationsOf(ctx, named)
	} else {
		resp.Reservations, err = s.Store.Reservations(ctx, after, int(req.GetLimit()))
	}
	return resp, err
}
