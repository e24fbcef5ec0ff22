package kafka

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// progress is how far a partition has come.
type progress struct {
	lock sync.Mutex
	// next is the offset to be handled next; negative before the first message.
	next int64
	// end is the partition's end as it was heard of last.
	end int64
	// oldest is when the oldest message was sent that is being handled now; zero: none is.
	oldest time.Time
}

// fetched notes a message that came, or what the partition's end is.
func (p *progress) fetched(offset, end int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.next < 0 {
		p.next = offset
	}
	p.end = max(p.end, end)
}

func (p *progress) handling(oldest time.Time) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.oldest = oldest
}

func (p *progress) handled(next int64) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.next, p.oldest = next, time.Time{}
}

// state returns how many messages wait, and the age of the oldest one that is being handled.
func (p *progress) state(now time.Time) (lag int64, age time.Duration) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.next >= 0 {
		lag = max(0, p.end-p.next)
	}
	if !p.oldest.IsZero() {
		age = max(0, now.Sub(p.oldest))
	}
	return lag, age
}

// members are the partitions that this member of the group has now.
type members struct {
	lock sync.Mutex
	has  map[int]*progress
}

// set notes the partitions of a generation, none between two.
func (m *members) set(partitions map[int]*progress) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.has = partitions
}

func (m *members) all() map[int]*progress {
	m.lock.Lock()
	defer m.lock.Unlock()
	return maps.Clone(m.has)
}

// observeProgress registers what is read at each scrape.
func (c *Consumer) observeProgress(meter metric.Meter) error {
	var errs [5]error
	lag, err := meter.Int64ObservableGauge("gifting.kafka.consumer.lag",
		metric.WithDescription("Messages of the partition that are not handled, as the last fetch knew."))
	errs[0] = err
	age, err := meter.Float64ObservableGauge("gifting.kafka.consumer.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest message that is being handled."))
	errs[1] = err
	partitions, err := meter.Int64ObservableGauge("gifting.kafka.consumer.partitions",
		metric.WithDescription("Partitions that this member of the group has."))
	errs[2] = err
	of := []attribute.KeyValue{
		semconv.MessagingDestinationName(c.opts.Topic), semconv.MessagingConsumerGroupName(c.opts.Group),
	}
	member := metric.WithAttributeSet(attribute.NewSet(of...))
	_, errs[3] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now, has, oldest := time.Now(), c.members.all(), time.Duration(0)
		for _, id := range slices.Sorted(maps.Keys(has)) {
			waiting, old := has[id].state(now)
			oldest = max(oldest, old)
			o.ObserveInt64(lag, waiting, metric.WithAttributes(append(of[:len(of):len(of)], partitionLabel(id))...))
		}
		o.ObserveFloat64(age, oldest.Seconds(), member)
		o.ObserveInt64(partitions, int64(len(has)), member)
		return nil
	}, lag, age, partitions)
	errs[4] = c.observeStats(meter, member)
	return errors.Join(errs[:]...)
}

// observeStats registers the counts of what went wrong.
func (c *Consumer) observeStats(meter metric.Meter, member metric.MeasurementOption) error {
	var errs []error
	for _, count := range []struct {
		name, description string
		of                func(s Stats) int64
	}{
		{"gifting.kafka.reader.restarts", "Readers replaced because they were stuck.", func(s Stats) int64 { return s.Restarts }},
		{"gifting.kafka.reader.gaps", "Holes in the offsets: messages dropped before they were read.", func(s Stats) int64 { return s.Gaps }},
		{"gifting.kafka.reader.past_end", "Checks that found a partition ending before its committed offset.", func(s Stats) int64 { return s.PastEnd }},
		{"gifting.kafka.handler.errors", "Calls of the handler that failed.", func(s Stats) int64 { return s.HandlerErrors }},
	} {
		_, err := meter.Int64ObservableCounter(count.name, metric.WithDescription(count.description),
			metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
				o.Observe(count.of(c.Stats()), member)
				return nil
			}))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
