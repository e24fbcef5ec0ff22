package server

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

const (
	maxTenants     = 5000
	maxOrderEvents = 10_000
)

// FeedRecords implements FeedRecordsService.
type FeedRecords struct {
	eventsv1.UnimplementedFeedRecordsServiceServer

	store     *store.Store
	topic     Topic
	retention func() time.Duration
	log       *slog.Logger
}

// NewFeedRecords makes the server of FeedRecordsService, for a feed that is written from the topic and keeps events for the
// retention.
func NewFeedRecords(s *store.Store, topic Topic, retention func() time.Duration, log *slog.Logger) *FeedRecords {
	return &FeedRecords{store: s, topic: topic, retention: retention, log: log}
}

// ListFeedTenants lists the tenants that have a feed.
func (f *FeedRecords) ListFeedTenants(
	ctx context.Context, req *eventsv1.ListFeedTenantsRequest,
) (*eventsv1.ListFeedTenantsResponse, error) {
	errs := caller.RequestErrors(ctx)
	after := uuid.Nil.String()
	if id := errs.OptionalUUID("afterTenantId", req.AfterTenantId); id != nil {
		after = *id
	}
	checkLimit(req.GetLimit(), maxTenants, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	tenants, err := f.store.Tenants(ctx, after, int(req.GetLimit()))
	if err != nil {
		return nil, err
	}
	retainedFrom, err := f.store.RetainedFrom(ctx, f.retention())
	if err != nil {
		return nil, err
	}
	return &eventsv1.ListFeedTenantsResponse{TenantIds: tenants, RetainedFrom: timestamppb.New(retainedFrom)}, nil
}

// ListOrderEvents lists the events that reported a state of an order.
func (f *FeedRecords) ListOrderEvents(
	ctx context.Context, req *eventsv1.ListOrderEventsRequest,
) (*eventsv1.ListOrderEventsResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	checkLimit(req.GetLimit(), maxOrderEvents, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	from := store.OrderEventsFrom{
		TenantID: tenantID, Day: store.Day(req.GetFrom().AsTime()), Limit: int(req.GetLimit()), WithData: req.GetWithStatus(),
	}
	if next := req.GetAfter(); next != nil {
		from.After = &store.Position{Epoch: next.GetEpoch(), Day: store.Day(next.GetDay().AsTime()), Number: next.GetNumber()}
	}
	var check completeness
	if req.GetCheckComplete() {
		check = f.beginCheck(ctx)
	}
	page, err := f.store.OrderEvents(ctx, from)
	if err != nil {
		return nil, err
	}
	resp := &eventsv1.ListOrderEventsResponse{
		Events: make([]*eventsv1.OrderEvent, len(page.Events)), End: page.End,
		Next: positionOf(page.Next.Day, page.Next.Number, page.Next.Epoch),
	}
	for i, e := range page.Events {
		resp.Events[i] = &eventsv1.OrderEvent{
			OrderId: e.OrderID, OccurredAt: timestamppb.New(e.OccurredAt), Position: positionOf(e.Day, e.Number, page.Next.Epoch),
			Status: statusIn(e.Data),
		}
	}
	if req.GetCheckComplete() && page.End {
		resp.IncompleteReason = f.incomplete(ctx, check, page)
		resp.Complete = resp.GetIncompleteReason() == ""
	}
	return resp, nil
}

func positionOf(day time.Time, number, epoch int64) *eventsv1.FeedPosition {
	return &eventsv1.FeedPosition{Day: timestamppb.New(day), Number: number, Epoch: epoch}
}

// statusIn finds the status in the data of an event: the data is the order, or has it.
func statusIn(data []byte) string {
	var order struct {
		Status string
		Order  struct{ Status string }
	}
	if json.Unmarshal(data, &order) != nil {
		return ""
	}
	return cmp.Or(order.Order.Status, order.Status)
}

func checkLimit(limit, most int32, errs *fields.Errors) {
	if limit < 1 || limit > most {
		errs.Add("limit", problem.FieldInvalid, "is out of range")
	}
}
