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
	// began is before any source was read, by the relay's clock.
	began    time.Time
	readings []reading
	// times are when the rows of each reading were recorded, by the relay's clock.
	times [][]time.Time
	// published is how many rows of each reading are published. items are these rows, in the order of publishing.
	published []int
	items     []item
	// watermark is the time up to which all changes are published.
	watermark time.Time
}

// item is a row of a batch.
type item struct {
	source int
	at     time.Time
	// byClock is at before it was capped, as for rows that an earlier read has seen. It orders rows with equal at.
	byClock time.Time
	row
}

// outcome of a batch.
type outcome struct {
	// published is how many rows it had.
	published int
	// full: a source may have more rows. held: the watermark holds rows back.
	full, held bool
}

// publishBatch publishes the next rows.
func (r *Relay) publishBatch(ctx context.Context) (outcome, error) {
	hostStepped := r.clock.hostStepped()
	if hostStepped {
		r.log.WarnContext(ctx, "the clock of this host was set, publishing again what is in the outboxes")
	}
	if r.resetRequested.Swap(false) || hostStepped {
		r.reset()
	}
	b, err := r.nextBatch(ctx)
	if err != nil {
		return outcome{}, err
	}
	if len(b.items) > 0 {
		msgs, err := messages(b.items, r.messageTime(b))
		if err != nil {
			return outcome{}, err
		}
		if err := r.publisher.Publish(ctx, msgs); err != nil {
			if errors.Is(err, kafka.ErrTime) {
				r.messageClock = (r.messageClock + 1) % (len(r.sources) + 1)
			}
			return outcome{}, err
		}
		r.metrics.published.Add(ctx, int64(len(msgs)))
		if lost := r.outstanding.addPublished(b.items, msgs); lost != nil {
			r.reportLost(ctx, *lost, "")
		}
	}
	for i := range r.windows {
		r.windows[i].advance(b.readings[i], b.published[i])
		if len(r.windows[i].formerClocks) == 0 { // Otherwise rows that are left may have times of another clock.
			r.windows[i].publishedUpTo(b.watermark.Add(r.clockOffsetOf(b.readings[i].server)))
		}
	}
	r.metrics.observe(r.clock.now(), b, true, r.clockOffsetOf)
	return b.outcome(), nil
}

func (b batch) outcome() outcome {
	o := outcome{published: len(b.items)}
	for i, read := range b.readings {
		o.full = o.full || read.full
		o.held = o.held || b.published[i] < len(read.rows)
	}
	return o
}

// nextBatch reads the next rows in the order in which they are to be published.
func (r *Relay) nextBatch(ctx context.Context) (batch, error) {
	ctx, cancel := context.WithTimeout(ctx, sourcesTimeout)
	defer cancel()
	b, err := r.readSources(ctx)
	if done := b.outcome(); err == nil && done.held && !done.full {
		// All rows that were seen now are older than the next read.
		for i, read := range b.readings {
			r.windows[i].noteRead(read.rows)
		}
		b, err = r.readSources(ctx)
	}
	if err == nil {
		r.metrics.observe(r.clock.now(), b, false, r.clockOffsetOf)
	}
	return b, err
}

// readSources reads all sources once.
func (r *Relay) readSources(ctx context.Context) (batch, error) {
	b := batch{began: r.clock.now(), readings: make([]reading, len(r.sources))}
	err := r.forEachSource(ctx, func(ctx context.Context, i int, s *source) (err error) {
		b.readings[i], err = s.read(ctx, r.clock.now, &r.windows[i], r.cfg.BatchSize)
		return err
	})
	if err == nil {
		err = r.observeTicks(b.readings)
	}
	if err == nil {
		err = r.forEachSource(ctx, func(ctx context.Context, i int, s *source) error {
			return s.readUnread(ctx, &r.windows[i], &b.readings[i])
		})
	}
	if err == nil {
		err = r.compareClocks(ctx, b.readings)
	}
	if err != nil {
		return batch{}, err
	}
	r.merge(&b)
	return b, nil
}

// observeTicks compares the clocks of all sources with the relay's own. It returns an error if a source has another server than
// before: the window was that of the former one, so the source is to be read again.
func (r *Relay) observeTicks(readings []reading) error {
	var changed error
	for i, t := range readings {
		if known := r.servers[i]; known != t.server {
			formerClocks := r.windows[i].formerClocks
			if known != nil {
				changed = fmt.Errorf("source %s: %w", r.sources[i].name, errServerChanged)
				if r.clockOffsets[known.instance] != nil {
					former := formerClock{offset: r.clockOffsetOf(known), last: r.windows[i].lastTick}
					formerClocks = append(formerClocks, former)
				}
			}
			r.forget(i, t.server)
			r.windows[i].formerClocks = formerClocks
		}
		if t.begun != 0 {
			r.windows[i].closeGapsAt(t.begun)
		}
		r.observe(t.tick, readings)
		r.windows[i].lastTick = t.tick
	}
	// A server that was restarted or replaced is another instance.
	maps.DeleteFunc(r.clockOffsets, func(instance string, _ *clockOffset) bool {
		return !slices.ContainsFunc(readings, func(t reading) bool { return t.server.instance == instance })
	})
	return changed
}

// observe compares the clock of a server with the relay's own. If it has stepped, all sources of the server note the former one.
func (r *Relay) observe(t tick, readings []reading) {
	offset := r.clockOffsets[t.server.instance]
	if offset == nil {
		offset = &clockOffset{}
		r.clockOffsets[t.server.instance] = offset
	}
	former := offset.value()
	if !offset.observe(t.asked, t.answered, t.clock) {
		return
	}
	for i, read := range readings {
		if read.server.instance == t.server.instance {
			r.windows[i].published = time.Time{} // It is a time of the clock as it was.
			r.windows[i].addFormerClock(former, t)
		}
	}
}

const (
	// exact is the uncertainty up to which a clock counts as known exactly. It is well below the time that a change takes. So if a
	// change of one server was answered before that of another was requested, they are merged in this order.
	exact = 300 * time.Microsecond
	// moreReadings bounds how often a clock is read again because the reading with the rows took long.
	moreReadings = 3
)

// compareClocks reads clocks again that are not known exactly, if rows of several servers are to be merged.
func (r *Relay) compareClocks(ctx context.Context, readings []reading) error {
	withRows := map[string]bool{}
	for _, read := range readings {
		if len(read.rows) > 0 {
			withRows[read.server.instance] = true
		}
	}
	if len(withRows) == 1 {
		return nil
	}
	for i, read := range readings {
		instance := read.server.instance
		for n := 0; n < moreReadings && withRows[instance] && r.clockOffsets[instance].uncertainty() > exact; n++ {
			t, err := r.sources[i].readClock(ctx, r.clock.now)
			if err != nil {
				return err
			}
			if t.server != read.server {
				return fmt.Errorf("source %s: %w", r.sources[i].name, errServerChanged)
			}
			r.observe(t, readings)
		}
	}
	return nil
}

// clockOffsetOf returns how far the clock of a server is ahead of the relay's.
func (r *Relay) clockOffsetOf(s *server) time.Duration { return r.clockOffsets[s.instance].value() }

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
	now := b.began
	for _, read := range b.readings {
		now = earlier(now, b.began.Add(-r.clockOffsets[read.server.instance].uncertainty()))
	}
	b.watermark = now
	var byClock [][]time.Time
	for i, read := range b.readings {
		toRelay := r.relayTime(i, read)
		b.times = append(b.times, read.times(r.windows[i].lastRead, toRelay, now))
		byClock = append(byClock, read.times(0, toRelay, now))
		if read.unread.id != 0 {
			b.watermark = earlier(b.watermark, toRelay(read.unread))
		}
	}
	for i, read := range b.readings {
		n := 0
		for ; n < len(read.rows) && !b.times[i][n].After(b.watermark); n++ {
			b.items = append(b.items, item{source: i, at: b.times[i][n], byClock: byClock[i][n], row: read.rows[n]})
		}
		b.published = append(b.published, n)
	}
	slices.SortFunc(b.items, func(a, c item) int {
		return cmp.Or(a.at.Compare(c.at), a.byClock.Compare(c.byClock), cmp.Compare(a.source, c.source), cmp.Compare(a.id, c.id))
	})
}

// relayTime returns the function that converts the time of a row from the source's clock to the relay's. A clock has dated what was
// recorded between the last reading of the one before it and the present reading. So a row whose time would lie outside is of a
// former clock.
func (r *Relay) relayTime(source int, read reading) func(row) time.Time {
	present, formerClocks := r.clockOffsets[read.server.instance], r.windows[source].formerClocks
	uncertainty := present.uncertainty()
	return func(of row) time.Time {
		at := of.recordedAt.Add(-present.value())
		for _, former := range slices.Backward(formerClocks) {
			outside := at.Before(former.last.asked.Add(-uncertainty)) || at.After(read.answered.Add(uncertainty))
			switch {
			case outside || former.hasDated(of):
				at = former.relayTime(of)
			case former.last.server != nil:
				return at
			} // Without a last reading, it does not show that the row is not of one before it.
		}
		return at
	}
}

// times returns when each row was recorded, by the relay's clock, to which toRelay converts the source's. now is before any source
// was read for this batch.
//
// An id is taken before the clock is read for recorded_at. So a row was recorded before every row with a higher id, whatever their
// clocks say, and one that an earlier read has seen was recorded before now. Therefore a clock that steps back neither delays a
// change nor inverts two.
func (r reading) times(seen int64, toRelay func(row) time.Time, now time.Time) []time.Time {
	times := make([]time.Time, len(r.rows))
	var latest time.Time
	if r.unread.id != 0 {
		latest = toRelay(r.unread)
	}
	for i, row := range slices.Backward(r.rows) {
		at := toRelay(row)
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

// messageTime is the time of the messages of a batch, by the clock of the relay's host. If Kafka refuses that, because it is too
// far ahead, the clocks of the sources are tried one after another. For a reader they are as the clock of another relay.
func (r *Relay) messageTime(b batch) time.Time {
	now := r.clock.now()
	if r.messageClock == 0 {
		return now
	}
	return now.Add(r.clockOffsetOf(b.readings[r.messageClock-1].server))
}

// messages encodes the rows. The key is the tenant, so the events of a tenant stay in one partition, in order.
func messages(items []item, at time.Time) ([]kafka.Message, error) {
	out := make([]kafka.Message, len(items))
	for i, r := range items {
		r.change.RecordedAt = timestamppb.New(r.at)
		value, err := proto.Marshal(r.change)
		if err != nil {
			return nil, fmt.Errorf("encode event %s: %w", r.change.GetEventId(), err)
		}
		m := kafka.Message{Key: []byte(r.change.GetTenantId()), Value: value, Time: at}
		out[i] = kafka.WithTraceParent(m, r.change.GetTraceparent())
	}
	return out, nil
}
