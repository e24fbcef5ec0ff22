package server

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// WatchEvents streams a tenant's events after a cursor until the caller leaves or the instance ends. The subscription begins before
// the feed is read, so that no event is missed (package notices).
func (o *Operations) WatchEvents(
	req *eventsv1.WatchEventsRequest, stream grpc.ServerStreamingServer[eventsv1.WatchEventsResponse],
) error {
	ctx := stream.Context()
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if req.After != nil && req.GetFromEnd() {
		errs.Add("fromEnd", problem.FieldInvalid, "cannot be given together with after")
	}
	if err := errs.Err(); err != nil {
		return err
	}
	if err := o.tenants.Permit(ctx, tenantID, req.GetActor(), watching); err != nil {
		return err
	}
	subscription := o.hub.Subscribe(tenantID)
	defer subscription.Close()
	after, err := o.start(ctx, tenantID, req)
	if err != nil {
		return err
	}
	w := &watchStream{
		operations: o, req: req, tenantID: tenantID, stream: stream, subscription: subscription, after: after, permittedAt: time.Now(),
	}
	return w.run(ctx)
}

// start returns where the stream begins.
func (o *Operations) start(ctx context.Context, tenantID string, req *eventsv1.WatchEventsRequest) (store.Position, error) {
	var (
		after store.Position
		errs  fields.Errors
		err   error
	)
	if req.After != nil {
		if after, err = decode(binding(tenantID), req.GetAfter()); err != nil {
			errs.Add("after", problem.FieldInvalid, "is not a cursor of this tenant's events")
			return after, errs.Err()
		}
	}
	if req.GetFromEnd() {
		return o.pages.feed.End(ctx, tenantID)
	}
	bounds, err := o.pages.feed.Bounds(ctx, tenantID, after.Epoch)
	if err != nil {
		return after, err
	}
	addLostError(after, bounds, &errs)
	return after, errs.Err()
}

// watchStream is a stream of WatchEvents.
type watchStream struct {
	operations   *Operations
	req          *eventsv1.WatchEventsRequest
	tenantID     string
	stream       grpc.ServerStreamingServer[eventsv1.WatchEventsResponse]
	subscription *notices.Subscription
	after        store.Position
	// permittedAt is when the actor was last permitted.
	permittedAt time.Time
}

func (w *watchStream) run(ctx context.Context) error {
	if err := w.stream.Send(&eventsv1.WatchEventsResponse{Cursor: w.cursor(w.after)}); err != nil {
		return err
	}
	check := time.NewTicker(permissionAge)
	defer check.Stop()
	for {
		end, err := w.sendPage(ctx)
		if err != nil {
			return err
		}
		if !end {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-check.C:
		case <-w.subscription.Due():
			w.subscription.Drain()
		}
	}
}

// sendPage sends the next page and reports whether it reached the end of the feed. Sending blocks while the caller is slow.
func (w *watchStream) sendPage(ctx context.Context) (end bool, err error) {
	if time.Since(w.permittedAt) >= permissionAge {
		if err := w.operations.tenants.Permit(ctx, w.tenantID, w.req.GetActor(), watching); err != nil {
			return false, err
		}
		w.permittedAt = time.Now()
	}
	list := listing{tenantID: w.tenantID, filter: store.Filter{Everything: true}, limit: page.MaxLimit, after: w.after}
	var errs fields.Errors
	if err := w.operations.pages.readPage(ctx, &list, &errs); err != nil {
		return false, err
	}
	for i, event := range w.operations.pages.response(list).GetItems() {
		w.after = list.rows[i].Position
		if err := w.stream.Send(&eventsv1.WatchEventsResponse{Event: event, Cursor: w.cursor(w.after)}); err != nil {
			return false, err
		}
	}
	return list.atEnd, nil
}

func (w *watchStream) cursor(p store.Position) *string {
	if p == (store.Position{}) {
		return nil
	}
	text := encode(binding(w.tenantID), p)
	return &text
}
