package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/kafka"
)

// sourcesTimeout bounds the time that a batch waits for the sources.
const sourcesTimeout = 15 * time.Second

// errServerChanged ends a batch whose source has another server than when its clock was read.
var errServerChanged = errors.New("the server of a source was restarted or replaced")

// batch is what was read from the sources at once, and what of it is published.
type batch struct {
	readings []reading
	// times are when the rows of each reading were recorded, by the relay's clock.
	times [][]time.Time
	// taken is how many rows of each reading are published, and items are these rows in the order of publishing.
	taken []int
	items []item
	// watermark is the time up to which all changes are published.
	watermark time.Time
}

// item is a row of a batch.
type item struct {
	source int
	at     time.Time
	row
}

// publishBatch publishes the next rows and returns how many there were.
func (r *Relay) publishBatch(ctx context.Context) (int, error) {
	if r.again.Swap(false) {
		r.reset()
	}
	b, err := r.nextBatch(ctx)
	if err != nil {
		return 0, err
	}
	if len(b.items) > 0 {
		msgs, err := messages(b.items)
		if err != nil {
			return 0, err
		}
		if err := r.publisher.Publish(ctx, msgs); err != nil {
			return 0, err
		}
		r.metrics.published.Add(ctx, int64(len(msgs)))
		if lost := r.outstanding.add(b.items, msgs); lost != nil {
			r.lost(ctx, *lost, "")
		}
	}
	for i := range r.windows {
		r.windows[i].advance(b.readings[i], b.taken[i])
		r.windows[i].publishedUpTo(b.watermark.Add(r.offsetOf(b.readings[i].server)))
	}
	return len(b.items), nil
}

// nextBatch reads the next rows in the order in which they are to be published.
func (r *Relay) nextBatch(ctx context.Context) (batch, error) {
	ctx, cancel := context.WithTimeout(ctx, sourcesTimeout)
	defer cancel()
	ticks, err := r.readClocks(ctx)
	if err != nil {
		return batch{}, err
	}
	b := batch{readings: make([]reading, len(r.sources))}
	err = r.forEachSource(ctx, func(ctx context.Context, i int, s *source) (err error) {
		b.readings[i], err = s.read(ctx, &r.windows[i], ticks[i], r.cfg.BatchSize)
		if err == nil && s.server.Load() != ticks[i].server {
			err = fmt.Errorf("source %s: %w", s.name, errServerChanged)
		}
		return err
	})
	if err != nil {
		return batch{}, err
	}
	r.merge(&b)
	r.metrics.observe(r.clock.now(), b, r.offsetOf)
	return b, nil
}

// readClocks reads the clocks of all sources, before any outbox is read, and compares them with the relay's own.
func (r *Relay) readClocks(ctx context.Context) ([]tick, error) {
	ticks := make([]tick, len(r.sources))
	err := r.forEachSource(ctx, func(ctx context.Context, i int, s *source) (err error) {
		ticks[i], err = s.tick(ctx, r.clock.now, r.windows[i].open())
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, t := range ticks {
		if r.servers[i] != t.server {
			r.forget(i, t.server)
		}
		if t.begun != 0 {
			r.windows[i].began(t.begun)
		}
		offset := r.offsets[t.server.instance]
		if offset == nil {
			offset = &clockOffset{}
			r.offsets[t.server.instance] = offset
		}
		if offset.observe(t.asked, t.answered, t.clock) {
			r.windows[i].published = time.Time{} // It is a time of the clock as it was.
		}
	}
	// A server that was restarted or replaced is another instance.
	maps.DeleteFunc(r.offsets, func(instance string, _ *clockOffset) bool {
		return !slices.ContainsFunc(ticks, func(t tick) bool { return t.server.instance == instance })
	})
	return ticks, nil
}

// offsetOf returns how far the clock of a server is ahead of the relay's.
func (r *Relay) offsetOf(s *server) time.Duration { return r.offsets[s.instance].value() }

// forEachSource calls all sources concurrently.
func (r *Relay) forEachSource(ctx context.Context, call func(ctx context.Context, i int, s *source) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range r.sources {
		group.Go(func() error { return call(ctx, i, s) })
	}
	return group.Wait()
}

// merge puts the rows of all sources into the order of publishing.
func (r *Relay) merge(b *batch) {
	now := r.clock.now()
	for _, read := range b.readings {
		now = earlier(now, read.clock.Add(-r.offsetOf(read.server)))
	}
	b.watermark = now
	for i, read := range b.readings {
		offset := r.offsetOf(read.server)
		b.times = append(b.times, read.times(r.windows[i].seen, offset, now))
		if !read.unread.IsZero() {
			b.watermark = earlier(b.watermark, read.unread.Add(-offset))
		}
	}
	b.watermark = b.watermark.Add(-r.cfg.ClockSkew)
	for i, read := range b.readings {
		taken := 0
		for taken < len(read.rows) && !b.times[i][taken].After(b.watermark) {
			b.items = append(b.items, item{source: i, at: b.times[i][taken], row: read.rows[taken]})
			taken++
		}
		b.taken = append(b.taken, taken)
	}
	slices.SortFunc(b.items, func(a, c item) int {
		return cmp.Or(a.at.Compare(c.at), cmp.Compare(a.source, c.source), cmp.Compare(a.id, c.id))
	})
}

// times returns when each row was recorded, by the relay's clock, which is offset behind the source's. now is when the first clock
// was read for this batch.
//
// An id is taken before the clock is read for recorded_at. So a row was recorded before every row with a higher id, whatever their
// clocks say, and one that an earlier read has seen was recorded before now. Therefore a clock that steps back neither delays a
// change nor inverts two.
func (r reading) times(seen int64, offset time.Duration, now time.Time) []time.Time {
	times := make([]time.Time, len(r.rows))
	var latest time.Time
	if !r.unread.IsZero() {
		latest = r.unread.Add(-offset)
	}
	for i, row := range slices.Backward(r.rows) {
		at := row.recordedAt.Add(-offset)
		if row.id <= seen {
			at = earlier(at, now)
		}
		if latest.IsZero() || at.Before(latest) {
			latest = at
		}
		times[i] = latest
	}
	return times
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// messages encodes the rows. The key is the tenant, so the events of a tenant stay in one partition, in order.
func messages(items []item) ([]kafka.Message, error) {
	out := make([]kafka.Message, len(items))
	for i, r := range items {
		r.change.RecordedAt = timestamppb.New(r.at)
		value, err := proto.Marshal(r.change)
		if err != nil {
			return nil, fmt.Errorf("encode event %s: %w", r.change.GetEventId(), err)
		}
		m := kafka.Message{Key: []byte(r.change.GetTenantId()), Value: value}
		out[i] = kafka.WithTraceParent(m, r.change.GetTraceparent())
	}
	return out, nil
}
