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
// each of a different tenant. The platform and the floor take turns, and the ratios compare them.
func BenchmarkChangeToReceiver(b *testing.B) {
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("endpoints=%d/rate=%d", endpoints, perSecond), func(b *testing.B) {
			toReceiver(b, perSecond, (*platform).recordChanges, (*floor).recordChanges)
		})
	}
}

// BenchmarkAcceptedToReceiver does the same with orders that are placed through the gateway.
func BenchmarkAcceptedToReceiver(b *testing.B) {
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) {
			toReceiver(b, perSecond, (*platform).acceptOrders, (*floor).acceptOrders)
		})
	}
}

// rounds is how often the platform and the floor take turns.
func rounds() int {
	if testing.Short() {
		return 1
	}
	return 3
}

func toReceiver(
	b *testing.B, perSecond int, ours func(*platform, *testing.B) makeChange, least func(*floor, *testing.B) makeChange,
) {
	b.Helper()
	r := fixture.NewReceiver(b)
	p, tenants := newFixture(b, r.URLs(endpoints))
	f := newFloor(b, p, r.URLs(endpoints))
	of := &side{Platform: p.Platform, change: ours(p, b), tenants: tenants}
	ofFloor := &side{Platform: f.Platform, change: least(f, b), tenants: f.tenants}
	measured := fixture.MeasuredTime(perSecond) / time.Duration(rounds())
	fixture.Once(b, func() {
		for range rounds() {
			for _, s := range []*side{of, ofFloor} {
				s.measure(b, perSecond, measured, func(w *writer) map[string]time.Time { return await(b, r, w) })
				r.Empty(b)
			}
		}
	})
	of.report(b)
	b.ReportMetric(fixture.MedianRatio(of.cpu, ofFloor.cpu), "cpu-of-floor")
	b.ReportMetric(fixture.Median(ofFloor.cpu), "floor-cpu-s/1000")
	for q, name := range map[float64]string{.5: "p50", .99: "p99"} {
		b.ReportMetric(of.byRecord.At(q)/ofFloor.byRecord.At(q), name+"-of-floor")
		b.ReportMetric(ofFloor.byRecord.At(q), "floor-"+name+"-ms-from-record")
	}
	b.Logf("floor: %s", ofFloor)
}

// side is the platform or the floor, with the latencies of its measured changes and the costs of all, including the warm-up.
type side struct {
	*fixture.Platform

	change  makeChange
	tenants []tenant

	byDue, byRecord, byAnswer fixture.Latencies
	late                      time.Duration

	changes  int
	used     fixture.Usage
	counters fixture.Counters
	// cpu has the seconds of processor time for 1000 changes of each round.
	cpu []float64
}

// measure makes changes at the rate and waits for the end of their way, which returns when they arrived.
func (s *side) measure(b *testing.B, perSecond int, measured time.Duration, end func(w *writer) map[string]time.Time) {
	b.Helper()
	w, m := newWriter(s.change, s.tenants), s.NewMeter(b)
	var used fixture.Usage
	var arrived map[string]time.Time
	s.counters = s.counters.Plus(s.Count(b, func() {
		used = m.During(b, func() {
			w.run(b, perSecond, measured)
			arrived = end(w)
		})
	}))
	changes := len(w.answered) + int(fixture.WarmUp.Seconds())*perSecond
	s.used, s.changes, s.late = s.used.Plus(used), s.changes+changes, max(s.late, w.late)
	s.cpu = append(s.cpu, used.Sum().Seconds()*1000/float64(changes))
	s.byDue = s.byDue.Plus(fixture.Between(w.due, arrived))
	s.byRecord = s.byRecord.Plus(fixture.Between(s.Recorded(b, w.answered), arrived))
	s.byAnswer = s.byAnswer.Plus(fixture.Between(w.answered, arrived))
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
func (s *side) report(b *testing.B) {
	b.Helper()
	s.byDue.Report(b, "due")
	s.byRecord.Report(b, "record")
	s.byAnswer.Report(b, "answer")
	b.ReportMetric(fixture.Milliseconds(s.late), "max-ms-late")
	s.used.Report(b, s.changes, time.Millisecond, "cpu-s/1000") // Milliseconds of one are seconds of a thousand.
	s.counters.Report(b, float64(s.changes), "change")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("%s; load %.1f", s, fixture.Load(b))
}

func (s *side) String() string {
	return fmt.Sprintf("%d changes; from due: %s; from record: %s; from answer: %s; calls at most %.1f ms late; CPU: %s",
		len(s.byRecord), s.byDue, s.byRecord, s.byAnswer, fixture.Milliseconds(s.late), s.used)
}

// pollEvery is part of the latencies, because an event counts once a poll has returned it.
const pollEvery = 2 * time.Millisecond

// BenchmarkChangeToFeed measures the time from an order to the first poll of the tenant's feed that returns its event.
func BenchmarkChangeToFeed(b *testing.B) {
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) {
			p, tenants := newFixture(b, []string{""})
			s, f := &side{Platform: p.Platform, change: p.placeOrders(b), tenants: tenants}, p.newFeedReader(b, tenants[0])
			fixture.Once(b, func() {
				polling, stop := context.WithCancel(b.Context())
				ended := make(chan error, 1)
				go func() { ended <- f.poll(polling) }()
				s.measure(b, perSecond, fixture.MeasuredTime(perSecond), func(w *writer) map[string]time.Time {
					require.Eventually(b, func() bool { return f.has(w) }, arrivalTimeout, pollInterval)
					return f.seenUntilNow()
				})
				stop()
				require.NoError(b, <-ended)
			})
			s.report(b)
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
