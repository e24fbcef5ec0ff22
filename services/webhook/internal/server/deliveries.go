package server

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// GetDelivery returns a delivery with its attempts and its body as it is sent. While the body cannot be opened, the error is
// service_unavailable.
func (o *Operations) GetDelivery(ctx context.Context, req *webhookv1.GetDeliveryRequest) (*webhookv1.GetDeliveryResponse, error) {
	var errs fields.Errors
	endpoint := endpointOf(req.GetTenantId(), req.GetKeyId(), &errs)
	eventID := errs.UUID("eventId", req.GetEventId())
	if err := o.permit(ctx, req.GetActor(), endpoint.TenantID, &errs); err != nil {
		return nil, err
	}
	logged, body, attempts, err := o.store.Get(ctx, endpoint, eventID)
	if err != nil {
		return nil, translate(err)
	}
	body, err = o.reader.Open(ctx, seal.EventRef{TenantID: endpoint.TenantID, EventID: eventID}, body)
	if err != nil {
		return nil, problem.Unavailable()
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

// ResendDelivery makes a finished delivery due again, and a pending one due now.
func (o *Operations) ResendDelivery(
	ctx context.Context, req *webhookv1.ResendDeliveryRequest,
) (*webhookv1.ResendDeliveryResponse, error) {
	var errs fields.Errors
	endpoint := endpointOf(req.GetTenantId(), req.GetKeyId(), &errs)
	eventID := errs.UUID("eventId", req.GetEventId())
	if err := o.permit(ctx, req.GetActor(), endpoint.TenantID, &errs); err != nil {
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

// ListDeliveries returns a page of a key's deliveries, newest event first.
func (o *Operations) ListDeliveries(
	ctx context.Context, req *webhookv1.ListDeliveriesRequest,
) (*webhookv1.ListDeliveriesResponse, error) {
	var errs fields.Errors
	q := store.LogQuery{Endpoint: endpointOf(req.GetTenantId(), req.GetKeyId(), &errs), Limit: pageSize(req.PageSize, &errs)}
	if req.State != nil {
		q.State = rules.State(enumname.String(req.GetState()))
		if _, known := enumname.Parse[webhookv1.DeliveryState](string(q.State)); !known {
			errs.Add("state", problem.FieldInvalid, "must be a state of a delivery")
		}
	}
	tokens := page.Bind("webhook.deliveries", q.TenantID, strconv.Itoa(int(q.KeyID)), string(q.State))
	q.Before = eventOf(req.GetPageToken(), tokens, &errs)
	if err := o.permit(ctx, req.GetActor(), q.TenantID, &errs); err != nil {
		return nil, err
	}
	limit := q.Limit
	q.Limit++ // One more row shows whether there is another page.
	list, err := o.store.List(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &webhookv1.ListDeliveriesResponse{}
	if len(list) > limit {
		list = list[:limit]
		resp.NextPageToken = tokenOf(list[limit-1].EventID, tokens)
	}
	for _, l := range list {
		resp.Deliveries = append(resp.Deliveries, delivery(l))
	}
	return resp, nil
}

func pageSize(size *int32, errs *fields.Errors) int {
	var own fields.Errors
	limit := page.Limit(size, &own)
	if own.Err() != nil {
		errs.Add("pageSize", problem.FieldInvalid, "must be an integer from 1 to 100")
	}
	return limit
}

// tokenOf is the page token after an event.
func tokenOf(eventID string, tokens page.Binding) *string {
	id := uuid.MustParse(eventID)
	token := tokens.Encode(id[:])
	return &token
}

// eventOf is the event of a page token, empty without a token.
func eventOf(token string, tokens page.Binding, errs *fields.Errors) string {
	if token == "" {
		return ""
	}
	raw, err := tokens.Decode(token)
	id, malformed := uuid.FromBytes(raw)
	if err != nil || malformed != nil {
		errs.Add("pageToken", problem.FieldInvalid, "is not a page token of this call and these filters")
		return ""
	}
	return id.String()
}
