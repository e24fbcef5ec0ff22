package server

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// SettleReservations confirms and releases reservations. It ignores orders that hold none.
func (o *ordering) SettleReservations(
	ctx context.Context, req *catalogv1.SettleReservationsRequest,
) (*catalogv1.SettleReservationsResponse, error) {
	errs := fields.FromContext(ctx)
	confirmed := orderIDs("confirmedOrderIds", req.GetConfirmedOrderIds(), errs)
	released := orderIDs("releasedOrderIds", req.GetReleasedOrderIds(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if len(confirmed)+len(released) == 0 {
		return &catalogv1.SettleReservationsResponse{}, nil
	}
	return &catalogv1.SettleReservationsResponse{}, o.store.ConfirmAndRelease(ctx, confirmed, released)
}

func orderIDs(field string, values []string, errs *fields.Errors) []string {
	ids := make([]string, len(values))
	for i, v := range values {
		ids[i] = errs.UUID(fmt.Sprintf("%s[%d]", field, i), v)
	}
	return ids
}
