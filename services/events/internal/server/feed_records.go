package server

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

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

	store *store.Store
	ends  Ends
}

// Ends returns the offset after the last message of each partition of the topic that the feed reads.
type Ends func(ctx context.Context) (map[int]int64, error)

// NewFeedRecords makes the server of FeedRecordsService.
func NewFeedRecords(s *store.Store, ends Ends) *FeedRecords {
	return &FeedRecords{store: s, ends: ends}
}

// ListFeedTenants lists the tenants that have a feed.
func (f *FeedRecords) ListFeedTenants(
	ctx context.Context, req *eventsv1.ListFeedTenantsRequest,
) (*eventsv1.ListFeedTenantsResponse, error) {
	errs := fields.FromContext(ctx)
	after := uuid.Nil.String()
	if id := errs.OptionalUUID("afterTenantId", req.AfterTenantId); id != nil {
		after = *id
	}
	checkLimit(req.GetLimit(), maxTenants, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	tenants, oldest, err := f.store.Tenants(ctx, after, int(req.GetLimit()))
	if err != nil {
		return nil, err
	}
	return &eventsv1.ListFeedTenantsResponse{TenantIds: tenants, RetainedFrom: timestamppb.New(oldest)}, nil
}

// ListOrderEvents lists the events that reported a state of an order.
func (f *FeedRecords) ListOrderEvents(
	ctx context.Context, req *eventsv1.ListOrderEventsRequest,
) (*eventsv1.ListOrderEventsResponse, error) {
	errs := fields.FromContext(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	checkLimit(req.GetLimit(), maxOrderEvents, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	after := store.Position{Day: store.Day(req.GetFrom().AsTime())}
	if next := req.GetAfter(); next != nil {
		after = store.Position{Day: store.Day(next.GetDay().AsTime()), Number: next.GetNumber()}
	}
	events, next, end, err := f.store.OrderEvents(ctx, tenantID, after, int(req.GetLimit()))
	if err != nil {
		return nil, err
	}
	resp := &eventsv1.ListOrderEventsResponse{
		Events: make([]*eventsv1.OrderEvent, len(events)), End: end,
		Next: &eventsv1.FeedPosition{Day: timestamppb.New(next.Day), Number: next.Number},
	}
	for i, e := range events {
		resp.Events[i] = &eventsv1.OrderEvent{OrderId: e.OrderID, OccurredAt: timestamppb.New(e.OccurredAt)}
	}
	return resp, nil
}

const (
	// awaitTimeout is less than the deadline of a caller that sets none.
	awaitTimeout  = 3 * time.Second
	awaitInterval = 20 * time.Millisecond
)

// AwaitFeed waits until the feed has stored what Kafka has now.
func (f *FeedRecords) AwaitFeed(ctx context.Context, _ *eventsv1.AwaitFeedRequest) (*eventsv1.AwaitFeedResponse, error) {
	ends, err := f.ends(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", problem.Unavailable(), err)
	}
	tick := time.NewTicker(awaitInterval)
	defer tick.Stop()
	for until := time.Now().Add(awaitTimeout); ; {
		complete, err := f.store.HasStored(ctx, ends)
		if err != nil || complete || time.Now().After(until) {
			return &eventsv1.AwaitFeedResponse{Complete: complete}, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

func checkLimit(limit, most int32, errs *fields.Errors) {
	if limit < 1 || limit > most {
		errs.Add("limit", problem.FieldInvalid, "is out of range")
	}
}
