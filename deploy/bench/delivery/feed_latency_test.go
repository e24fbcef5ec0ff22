package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// pollEvery is part of the latencies: an event is visible when a poll has returned it.
const pollEvery = 2 * time.Millisecond

// BenchmarkChangeToFeed measures from an order to the first poll of the tenant's feed that returns its event.
func BenchmarkChangeToFeed(b *testing.B) {
	for _, perSecond := range rates() {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) {
			p := newFixture(b)
			tenants := p.tenants(b, []string{""})
			w, f := newWriter(p.placeOrders(b), tenants), p.newFeedReader(b, tenants[0])
			m := p.NewMeter(b)
			var used fixture.Usage
			fixture.Once(b, func() {
				polling, stop := context.WithCancel(b.Context())
				done := make(chan error, 1)
				go func() { done <- f.poll(polling) }()
				used = m.During(b, func() {
					w.run(b, perSecond, measuredTime())
					require.Eventually(b, func() bool { return f.has(w) }, arrivalTimeout, pollInterval)
				})
				stop()
				require.NoError(b, <-done)
			})
			p.report(b, w, f.seenUntilNow(), used)
		})
	}
}

func (p *platform) newFeedReader(b *testing.B, t tenant) *feedReader {
	b.Helper()
	ctx, err := caller.Outgoing(context.Background(), caller.Principal{
		TenantID: t.ID, KeyID: t.key, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, AllBrands: true,
	}, caller.Request{})
	require.NoError(b, err)
	return &feedReader{
		events: eventsv1.NewEventsServiceClient(p.Dial(b, "GIFTING_GRPC_EVENTS")), as: ctx, seen: map[string]time.Time{},
	}
}

// readPage reads the page behind the cursor.
func (f *feedReader) readPage(ctx context.Context) error {
	page, err := f.events.ListEvents(ctx, &eventsv1.ListEventsRequest{After: f.after, Limit: proto.Int32(100)})
	if err != nil {
		return err
	}
	now := time.Now()
	for _, e := range page.GetItems() {
		var order struct{ ID string }
		if err := json.Unmarshal(e.GetData(), &order); err != nil {
			return err
		}
		f.record(order.ID, now)
	}
	if page.NextCursor != nil {
		f.after = page.NextCursor
	}
	return nil
}

// feedReader polls the feed of a tenant.
type feedReader struct {
	events eventsv1.EventsServiceClient
	as     context.Context //nolint:containedctx // Carries the principal.
	after  *string

	lock sync.Mutex
	// seen holds when each order's event was returned.
	seen map[string]time.Time
}

// poll reads new events until ctx ends.
func (f *feedReader) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := f.readPage(f.as); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (f *feedReader) record(order string, at time.Time) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.seen[order] = at
}

func (f *feedReader) seenUntilNow() map[string]time.Time {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.seen)
}

// has reports whether every measured change has been seen.
func (f *feedReader) has(w *writer) bool {
	seen := f.seenUntilNow()
	for id := range w.answered {
		if _, found := seen[id]; !found {
			return false
		}
	}
	return true
}
