package gatewaytest

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// Feed is a fake of the events service, with the feed of one tenant. Its cursors are numbers.
type Feed struct {
	eventsv1.UnimplementedEventsServiceServer
	eventsv1.UnimplementedFeedNoticesServiceServer

	// Reads counts calls of ListEvents.
	Reads atomic.Int32
	// Found counts those that have read the events.
	Found atomic.Int32
	// Down lets ListEvents fail.
	Down atomic.Bool
	// BeforeRead, if set, is called at the start of ListEvents with the number of reads.
	BeforeRead atomic.Pointer[func(n int32)]

	tenantID string
	mu       sync.Mutex
	events   []feedEvent
	watchers map[chan *eventsv1.WatchFeedResponse]struct{}
}

type feedEvent struct {
	id     string
	notice *eventsv1.FeedNotice
}

// Brand is the brand of committed events.
const Brand = "3f0c2f1a-0000-4000-8000-000000000001"

// Commit commits an event of an order. change may change who sees it; nil changes nothing.
func (f *Feed) Commit(change func(n *eventsv1.FeedNotice)) (id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, n := f.commit(change)
	for w := range f.watchers {
		w <- &eventsv1.WatchFeedResponse{Notices: []*eventsv1.FeedNotice{n}}
	}
	return id
}

// CommitUnannounced commits an event whose notice is lost.
func (f *Feed) CommitUnannounced() (id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, _ = f.commit(nil)
	return id
}

func (f *Feed) commit(change func(n *eventsv1.FeedNotice)) (string, *eventsv1.FeedNotice) {
	n := &eventsv1.FeedNotice{TenantId: f.tenantID, BrandId: Brand, Scope: commonv1.Scope_SCOPE_ORDERS}
	if change != nil {
		change(n)
	}
	e := feedEvent{id: uuid.NewString(), notice: n}
	f.events = append(f.events, e)
	return e.id, n
}

// Watchers returns how many streams are open.
func (f *Feed) Watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers)
}

// BreakStreams ends all streams.
func (f *Feed) BreakStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watchers {
		close(w)
	}
	f.watchers = nil
}

// ListEvents implements EventsService.
func (f *Feed) ListEvents(ctx context.Context, req *eventsv1.ListEventsRequest) (*eventsv1.ListEventsResponse, error) {
	n := f.Reads.Add(1)
	if before := f.BeforeRead.Load(); before != nil {
		(*before)(n)
	}
	if f.Down.Load() {
		return nil, problem.Unavailable()
	}
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	if req.GetWait() < 0 || req.GetWait() > 30 {
		errs.Add("wait", problem.FieldInvalid, "must be from 0 to 30")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.Found.Add(1)
	at, _ := strconv.Atoi(req.GetAfter())
	resp := &eventsv1.ListEventsResponse{}
	for _, e := range f.events[at:] {
		at++
		n := e.notice
		if p.TenantID == n.GetTenantId() && p.SeesEvent(n.GetScope(), n.GetBrandId(), n.GetHiddenFromKeyId()) {
			resp.Items = append(resp.Items, &eventsv1.Event{Id: e.id, Type: "order.created", Data: []byte("{}")})
		}
	}
	headers := metadata.Pairs(caller.FeedEndHeader, "true")
	if req.GetWait() > 0 && len(resp.GetItems()) == 0 {
		headers.Set(caller.FeedWaitHeader, "true")
	}
	resp.NextCursor = proto.String(strconv.Itoa(at))
	return resp, grpc.SetHeader(ctx, headers)
}

// WatchFeed implements FeedNoticesService.
func (f *Feed) WatchFeed(_ *eventsv1.WatchFeedRequest, stream grpc.ServerStreamingServer[eventsv1.WatchFeedResponse]) error {
	responses := make(chan *eventsv1.WatchFeedResponse, 1000)
	responses <- &eventsv1.WatchFeedResponse{Missed: true}
	f.mu.Lock()
	if f.watchers == nil {
		f.watchers = map[chan *eventsv1.WatchFeedResponse]struct{}{}
	}
	f.watchers[responses] = struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watchers, responses)
	}()
	for {
		select {
		case <-stream.Context().Done():
			return stream.Context().Err()
		case r, open := <-responses:
			if !open {
				return status.Error(codes.Unavailable, "broken")
			}
			if err := stream.Send(r); err != nil {
				return err
			}
		}
	}
}
