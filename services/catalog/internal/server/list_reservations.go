package server

import (
	"context"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const maxReservations = 5000

// ListReservations lists the reservations that hold stock, or those of some orders.
func (o *ordering) ListReservations(
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
		resp.Reservations, err = o.store.ReservationsOf(ctx, named)
	} else {
		resp.Reservations, err = o.store.Reservations(ctx, after, int(req.GetLimit()))
	}
	return resp, err
}
