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

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	// arrivalTimeout is how long the last change of a run may take.
	arrivalTimeout = 20 * time.Second
	pollInterval   = 5 * time.Millisecond
)

// BenchmarkChangeToReceiver measures the time from a change to its event at the receiver, and what a change costs: processor
// time by program, statements, commits and flushes of the write-ahead log. The changes are spread evenly over the endpoints,
// each of a different tenant.
func BenchmarkChangeToReceiver(b *testing.B) {
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("endpoints=%d/rate=%d", endpoints, perSecond), func(b *testing.B) {
			toReceiver(b, perSecond, (*platform).recordChanges)
		})
	}
}

// BenchmarkAcceptedToReceiver does the same with orders that are placed through the gateway.
func BenchmarkAcceptedToReceiver(b *testing.B) {
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) { toReceiver(b, perSecond, (*platform).acceptOrders) })
	}
}

func toReceiver(b *testing.B, perSecond int, by func(p *platform, b *testing.B) makeChange) {
	b.Helper()
	r := fixture.NewReceiver(b)
	p, tenants := newFixture(b, r.URLs(endpoints))
	w := newWriter(by(p, b), tenants)
	var of costs
	var arrived map[string]time.Time
	fixture.Once(b, func() {
		of = p.cost(b, w, perSecond, func() { arrived = await(b, r, w) })
	})
	p.report(b, w, arrived, of)
}

// costs are those of all changes, including the warm-up.
type costs struct {
	changes  int
	used     fixture.Usage
	counters fixture.Counters
}

// cost makes changes at the rate and waits for the end of their way.
func (p *platform) cost(b *testing.B, w *writer, perSecond int, end func()) (of costs) {
	b.Helper()
	m := p.NewMeter(b)
	of.counters = p.Count(b, func() {
		of.used = m.During(b, func() {
			w.run(b, perSecond, fixture.MeasuredTime(perSecond))
			end()
		})
	})
	of.changes = len(w.answered) + int(fixture.WarmUp.Seconds())*perSecond
	return of
}

// await returns when every measured change has arrived at least once, and when they arrived.
func await(b *testing.B, r *fixture.Receiver, w *writer) (arrived map[string]time.Time) {
	b.Helper()
	missing := 0
	defer func() {
		if b.Failed() {
			b.Logf("%d of %d changes have not arrived", missing, len(w.answered))
		}
	}()
	require.Eventually(b, func() bool {
		arrived, missing = r.Arrivals(b).At, 0
		for id := range w.answered {
			if _, found := arrived[id]; !found {
				missing++
			}
		}
		return missing == 0
	}, arrivalTimeout, 100*time.Millisecond, "changes that do not arrive")
	return arrived
}

// report reports the latencies of the changes until they arrived, what they cost, how late the writer was, and the load of the
// machine.
func (p *platform) report(b *testing.B, w *writer, arrived map[string]time.Time, of costs) {
	b.Helper()
	byDue, byAnswer := fixture.Between(w.due, arrived), fixture.Between(w.answered, arrived)
	byRecord := fixture.Between(p.Recorded(b, w.answered), arrived)
	byDue.Report(b, "due")
	byRecord.Report(b, "record")
	byAnswer.Report(b, "answer")
	late, load := fixture.Milliseconds(w.late), fixture.Load(b)
	b.ReportMetric(late, "max-ms-late")
	of.used.Report(b, of.changes, time.Millisecond, "cpu-s/1000") // Milliseconds of one are seconds of a thousand.
	of.counters.Report(b, float64(of.changes), "change")
	b.ReportMetric(load, "load")
	b.Logf("%d changes; from due: %s; from record: %s; from answer: %s; calls at most %.1f ms late; CPU: %s; load %.1f",
		len(byRecord), byDue, byRecord, byAnswer, late, of.used, load)
}

// pollEvery is part of the latencies, because an event counts once a poll has returned it.
const pollEvery = 2 * time.Millisecond

// BenchmarkChangeToFeed measures the time from an order to the first poll of the tenant's feed that returns its event.
func BenchmarkChangeToFeed(b *testing.B) {
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) {
			p, tenants := newFixture(b, []string{""})
			w, f := newWriter(p.placeOrders(b), tenants), p.newFeedReader(b, tenants[0])
			var of costs
			fixture.Once(b, func() {
				polling, stop := context.WithCancel(b.Context())
				ended := make(chan error, 1)
				go func() { ended <- f.poll(polling) }()
				of = p.cost(b, w, perSecond, func() {
					require.Eventually(b, func() bool { return f.has(w) }, arrivalTimeout, pollInterval)
				})
				stop()
				require.NoError(b, <-ended)
			})
			p.report(b, w, f.seenUntilNow(), of)
		})
	}
}

func (p *platform) newFeedReader(b *testing.B, t tenant) *feedReader {
	b.Helper()
	ctx, err := t.Call(context.WithoutCancel(b.Context()), t.key)
	require.NoError(b, err)
	return &feedReader{
		events: eventsv1.NewEventsServiceClient(p.Dial(b, "GIFTING_GRPC_EVENTS")), keyContext: ctx, seen: map[string]time.Time{},
	}
}

// readPage reads the page after the cursor.
func (f *feedReader) readPage(ctx context.Context) error {
	page, err := f.events.ListEvents(ctx, &eventsv1.ListEventsRequest{After: f.after, Limit: proto.Int32(100)})
	if err != nil {
		return err
	}
	now := time.Now()
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, e := range page.GetItems() {
		var order struct{ ID string }
		if err := json.Unmarshal(e.GetData(), &order); err != nil {
			return err
		}
		f.seen[order.ID] = now
	}
	if page.NextCursor != nil {
		f.after = page.NextCursor
	}
	return nil
}

// feedReader polls the feed of a tenant.
type feedReader struct {
	events     eventsv1.EventsServiceClient
	keyContext context.Context //nolint:containedctx // Carries the principal.
	after      *string

	lock sync.Mutex
	// seen has when each order's event was returned.
	seen map[string]time.Time
}

// poll reads new events until ctx ends.
func (f *feedReader) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := f.readPage(f.keyContext); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
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
