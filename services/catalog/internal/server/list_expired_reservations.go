package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// ListExpiredReservations lists the orders whose reservation was not confirmed or released in time.
func (o *ordering) ListExpiredReservations(
	ctx context.Context, req *catalogv1.ListExpiredReservationsRequest,
) (*catalogv1.ListExpiredReservationsResponse, error) {
	const maxExpired = 1000
	errs := fields.FromContext(ctx)
	if req.GetLimit() < 1 || req.GetLimit() > maxExpired {
		errs.Add("limit", problem.FieldInvalid, "must be between 1 and 1000")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	ids, err := o.store.ExpiredReservations(ctx, int(req.GetLimit()))
	if err != nil {
		return nil, err
	}
	return &catalogv1.ListExpiredReservationsResponse{OrderIds: ids}, nil
}
