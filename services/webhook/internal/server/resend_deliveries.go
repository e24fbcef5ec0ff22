package server

import (
	"context"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// maxResent bounds the deliveries of one call.
const maxResent = 1000

// ResendDeliveries makes the finished deliveries of a span of events due again.
func (o *Operations) ResendDeliveries(
	ctx context.Context, req *webhookv1.ResendDeliveriesRequest,
) (*webhookv1.ResendDeliveriesResponse, error) {
	var errs fields.Errors
	endpoint := endpointOf(req.GetTenantId(), req.GetKeyId(), &errs)
	span := spanOf(req, &errs)
	tokens := page.Bind("webhook.resend", endpoint.TenantID, strconv.Itoa(int(endpoint.KeyID)),
		span.From, span.Before, strconv.FormatBool(req.GetDeliveredToo()))
	if last := eventOf(req.GetPageToken(), tokens, &errs); last != "" {
		span.From = rules.EventAfter(last)
	}
	if err := o.permit(ctx, req.GetActor(), endpoint.TenantID, &errs); err != nil {
		return nil, err
	}
	resent, err := o.store.ResendSpan(ctx, endpoint, span, maxResent)
	if err != nil {
		return nil, err
	}
	resp := &webhookv1.ResendDeliveriesResponse{Resent: int32(len(resent))} //nolint:gosec // At most maxResent.
	if len(resent) == maxResent {
		resp.NextPageToken = tokenOf(slices.Max(resent), tokens)
	}
	o.wake()
	o.log.InfoContext(ctx, "deliveries are resent", "key_id", endpoint.KeyID, "deliveries", len(resent))
	return resp, nil
}

func spanOf(req *webhookv1.ResendDeliveriesRequest, errs *fields.Errors) store.Span {
	from, before := instant("recordedFrom", req.GetRecordedFrom(), errs), instant("recordedBefore", req.GetRecordedBefore(), errs)
	if errs.Err() == nil && !from.Before(before) {
		errs.Add("recordedBefore", problem.FieldInvalid, "must be later than recordedFrom")
	}
	span := store.Span{States: []rules.State{rules.Failed, rules.Dropped}}
	if req.GetDeliveredToo() {
		span.States = append(span.States, rules.Delivered)
	}
	if errs.Err() == nil {
		span.From, span.Before = rules.FirstEventAt(from), rules.FirstEventAt(before)
	}
	return span
}

func instant(field string, at *timestamppb.Timestamp, errs *fields.Errors) time.Time {
	switch {
	case at == nil:
		errs.Add(field, problem.FieldRequired, "is required")
	case !at.IsValid() || at.GetSeconds() < 0:
		errs.Add(field, problem.FieldInvalid, "must be an instant after 1970")
	default:
		return at.AsTime()
	}
	return time.Time{}
}
