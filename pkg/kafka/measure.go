package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	operationSend    = "send"
	operationProcess = "process"
)

func (p *Producer) measure(tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	labels := labelsOf(operationSend, p.topic)
	var err1, err2 error
	b := newBatches(labels)
	b.duration, err1 = meter.Float64Histogram("messaging.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of sending a batch of messages."), telemetry.Durations())
	b.messages, err2 = meter.Int64Counter("messaging.client.sent.messages",
		metric.WithDescription("Messages acknowledged by all in-sync replicas."))
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("kafka: metrics of the producer: %w", err)
	}
	b.spans = newSpans(tel, trace.SpanKindProducer, operationSend, p.topic, labels)
	p.measured = b
	return nil
}

// consumerMeasures are the metrics of a consumer. All counters but handlerErrors should stay zero; each increment is also
// logged as an error.
type consumerMeasures struct {
	*batches
	gaps, lostTails, setbacks, handlerErrors func()
}

func (c *Consumer) measure(tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	of := []attribute.KeyValue{
		semconv.MessagingDestinationName(c.opts.Topic), semconv.MessagingConsumerGroupName(c.opts.Group),
	}
	labels := append(labelsOf(operationProcess, c.opts.Topic), semconv.MessagingConsumerGroupName(c.opts.Group))
	m := &consumerMeasures{batches: newBatches(labels)}
	var err1, err2, failed error
	m.duration, err1 = meter.Float64Histogram("messaging.process.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of handling a batch of messages."), telemetry.Durations())
	m.messages, err2 = meter.Int64Counter("messaging.client.consumed.messages",
		metric.WithDescription("Messages that were handled."))
	member := metric.WithAttributeSet(attribute.NewSet(of...))
	for _, counter := range []struct {
		name, description string
		count             *func()
	}{
		{"gifting.kafka.reader.gaps", "Gaps in the offsets: messages dropped before they were stored.", &m.gaps},
		{
			"gifting.kafka.reader.lost_tails", "Partitions found without the last message that was stored: Kafka lost messages.",
			&m.lostTails,
		},
		{"gifting.kafka.store.setbacks", "Partitions found stored less far than before: the database went back.", &m.setbacks},
		{"gifting.kafka.handler.errors", "Calls of the handler that failed.", &m.handlerErrors},
	} {
		counted, err := meter.Int64Counter(counter.name, metric.WithDescription(counter.description))
		failed = errors.Join(failed, err)
		*counter.count = func() { counted.Add(context.Background(), 1, member) }
		counted.Add(context.Background(), 0, member) // The series exists before the first error.
	}
	if err := errors.Join(err1, err2, failed, c.measureProgress(meter, of, member)); err != nil {
		return fmt.Errorf("kafka: metrics of the consumer: %w", err)
	}
	m.spans = newSpans(tel, trace.SpanKindConsumer, operationProcess, c.opts.Topic, labels)
	c.measured = m
	return nil
}

// measureProgress registers what is read at each scrape.
func (c *Consumer) measureProgress(meter metric.Meter, of []attribute.KeyValue, member metric.MeasurementOption) error {
	lag, err1 := meter.Int64ObservableGauge("gifting.kafka.consumer.lag",
		metric.WithDescription("Messages of the partition that are not handled yet, as of the last fetch."))
	age, err2 := meter.Float64ObservableGauge("gifting.kafka.consumer.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest message that is being handled."))
	partitions, err3 := meter.Int64ObservableGauge("gifting.kafka.consumer.partitions",
		metric.WithDescription("Partitions that this instance reads."))
	blocked, err4 := meter.Int64ObservableGauge("gifting.kafka.consumer.blocked",
		metric.WithDescription("Partitions that this instance does not read until a person decides."))
	_, err5 := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now, reading, oldestAge, blockedCount := time.Now(), c.reading.now(), time.Duration(0), c.refused.Load()
		for _, id := range slices.Sorted(maps.Keys(reading)) {
			waiting, handlingAge := reading[id].state(now)
			if oldestAge = max(oldestAge, handlingAge); reading[id].blocked.Load() {
				blockedCount++
			}
			if waiting >= 0 {
				o.ObserveInt64(lag, waiting, metric.WithAttributes(append(of[:len(of):len(of)], partitionLabel(id))...))
			}
		}
		o.ObserveFloat64(age, oldestAge.Seconds(), member)
		o.ObserveInt64(partitions, int64(len(reading)), member)
		o.ObserveInt64(blocked, blockedCount, member)
		return nil
	}, lag, age, partitions, blocked)
	return errors.Join(err1, err2, err3, err4, err5)
}

// batches measures and traces work on batches of messages.
type batches struct {
	spans      *spans
	duration   metric.Float64Histogram
	messages   metric.Int64Counter
	done, fail metric.MeasurementOption
}

func newBatches(labels []attribute.KeyValue) *batches {
	return &batches{
		done: metric.WithAttributeSet(attribute.NewSet(labels...)),
		fail: metric.WithAttributeSet(attribute.NewSet(append(labels[:len(labels):len(labels)], semconv.ErrorTypeOther)...)),
	}
}

// around measures and traces work on a batch.
func (b *batches) around(ctx context.Context, msgs []Message, work func(ctx context.Context, msgs []Message) error) error {
	began := time.Now()
	inside, msgs, spans := b.spans.begin(ctx, msgs)
	err := work(inside, msgs)
	spans.end(err)
	if err != nil {
		b.duration.Record(inside, time.Since(began).Seconds(), b.fail)
		return err
	}
	b.duration.Record(inside, time.Since(began).Seconds(), b.done)
	b.messages.Add(inside, int64(len(msgs)), b.done)
	return nil
}

func labelsOf(operation, topic string) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.MessagingSystemKafka, semconv.MessagingOperationName(operation), semconv.MessagingDestinationName(topic),
	}
}

func partitionLabel(id int) attribute.KeyValue {
	return semconv.MessagingDestinationPartitionID(strconv.Itoa(id))
}

// progress is how far a partition has been handled. Its reader writes it, and scrapes read it.
type progress struct {
	// next is the offset to be handled next; negative before the first message. end is the partition's end offset as of the last
	// fetch; negative before the partition was found.
	next, end atomic.Int64
	// oldest is when the oldest message in handling was sent; nil: none is.
	oldest atomic.Pointer[time.Time]
	// blocked: messages are missing, so the partition is not read.
	blocked atomic.Bool
}

func newProgress() *progress {
	p := &progress{}
	p.begin(-1, -1)
	return p
}

// begin records the offset at which reading begins and the partition's end.
func (p *progress) begin(next, end int64) {
	p.handled(next)
	p.end.Store(end)
}

func (p *progress) handled(next int64) {
	p.oldest.Store(nil)
	p.next.Store(next)
}

// state returns how many messages wait, negative if that is not known, and the age of the oldest one that is being handled.
func (p *progress) state(now time.Time) (lag int64, age time.Duration) {
	if lag = -1; p.end.Load() >= 0 {
		lag = max(0, p.end.Load()-p.next.Load())
	}
	if oldest := p.oldest.Load(); oldest != nil {
		age = max(0, now.Sub(*oldest))
	}
	return lag, age
}

// readPartitions are the partitions that this consumer reads now.
type readPartitions struct {
	lock sync.Mutex
	all  map[int]*progress
}

func (r *readPartitions) add(id int, p *progress) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.all == nil {
		r.all = map[int]*progress{}
	}
	r.all[id] = p
}

func (r *readPartitions) remove(id int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.all, id)
}

func (r *readPartitions) now() map[int]*progress {
	r.lock.Lock()
	defer r.lock.Unlock()
	return maps.Clone(r.all)
}
