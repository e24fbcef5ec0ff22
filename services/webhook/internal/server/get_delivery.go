package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// GetDelivery returns a delivery with its attempts and its body.
func (o *Operations) GetDelivery(ctx context.Context, req *webhookv1.GetDeliveryRequest) (*webhookv1.GetDeliveryResponse, error) {
	var errs fields.Errors
	endpoint := endpointOf(req.GetTenantId(), req.GetKeyId(), &errs)
	eventID := errs.UUID("eventId", req.GetEventId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	logged, body, attempts, err := o.store.Get(ctx, endpoint, eventID)
	if err != nil {
		return nil, translate(err)
	}
	resp := &webhookv1.GetDeliveryResponse{Delivery: delivery(logged), Body: body}
	for _, a := range attempts {
		resp.Attempts = append(resp.Attempts, &webhookv1.DeliveryAttempt{
			Number: a.Number, StartedAt: timestamppb.New(a.StartedAt), DurationMs: a.DurationMS,
			ResponseStatus: a.ResponseStatus, Problem: a.Problem, ResponseBody: a.ResponseBody,
		})
	}
	return resp, nil
}
