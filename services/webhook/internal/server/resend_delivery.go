package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// ResendDelivery makes a finished delivery due again.
func (o *Operations) ResendDelivery(ctx context.Context, req *webhookv1.ResendDeliveryRequest) (*webhookv1.ResendDeliveryResponse, error) {
	var errs fields.Errors
	endpoint := endpointOf(req.GetTenantId(), req.GetKeyId(), &errs)
	eventID := errs.UUID("eventId", req.GetEventId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := o.store.Resend(ctx, endpoint, eventID); err != nil {
		return nil, err
	}
	logged, _, _, err := o.store.Get(ctx, endpoint, eventID)
	if err != nil {
		return nil, translate(err)
	}
	o.wake()
	o.log.InfoContext(ctx, "delivery is resent", "event_id", eventID, "key_id", endpoint.KeyID)
	return &webhookv1.ResendDeliveryResponse{Delivery: delivery(logged)}, nil
}
