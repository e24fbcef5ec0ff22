package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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
	var errs [2]error
	b := newBatches(labels)
	b.duration, errs[0] = meter.Float64Histogram("messaging.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of sending a batch of messages."), telemetry.Durations())
	b.messages, errs[1] = meter.Int64Counter("messaging.client.sent.messages",
		metric.WithDescription("Messages acknowledged by all in-sync replicas."))
	if err := errors.Join(errs[:]...); err != nil {
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
	restarts, gaps, lostTails, setbacks, handlerErrors func()
}

func (c *Consumer) measure(tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	of := []attribute.KeyValue{
		semconv.MessagingDestinationName(c.opts.Topic), semconv.MessagingConsumerGroupName(c.opts.Group),
	}
	labels := append(labelsOf(operationProcess, c.opts.Topic), semconv.MessagingConsumerGroupName(c.opts.Group))
	m := &consumerMeasures{batches: newBatches(labels)}
	var failed error
	var errs [3]error
	m.duration, errs[0] = meter.Float64Histogram("messaging.process.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of handling a batch of messages."), telemetry.Durations())
	m.messages, errs[1] = meter.Int64Counter("messaging.client.consumed.messages",
		metric.WithDescription("Messages that were handled."))
	member := metric.WithAttributeSet(attribute.NewSet(of...))
	for _, counter := range []struct {
		name, description string
		count             *func()
	}{
		{"gifting.kafka.reader.restarts", "Readers replaced because they were stuck.", &m.restarts},
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
	errs[2] = c.measureProgress(meter, of, member)
	if err := errors.Join(failed, errors.Join(errs[:]...)); err != nil {
		return fmt.Errorf("kafka: metrics of the consumer: %w", err)
	}
	m.spans = newSpans(tel, trace.SpanKindConsumer, operationProcess, c.opts.Topic, labels)
	c.measured = m
	return nil
}

// measureProgress registers what is read at each scrape.
func (c *Consumer) measureProgress(meter metric.Meter, of []attribute.KeyValue, member metric.MeasurementOption) error {
	var errs [5]error
	lag, err := meter.Int64ObservableGauge("gifting.kafka.consumer.lag",
		metric.WithDescription("Messages of the partition that are not handled yet, as of the last fetch."))
	errs[0] = err
	age, err := meter.Float64ObservableGauge("gifting.kafka.consumer.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest message that is being handled."))
	errs[1] = err
	partitions, err := meter.Int64ObservableGauge("gifting.kafka.consumer.partitions",
		metric.WithDescription("Partitions that this member of the group has."))
	errs[2] = err
	blocked, err := meter.Int64ObservableGauge("gifting.kafka.consumer.blocked",
		metric.WithDescription("Partitions of this member that are not read until a person decides."))
	errs[3] = err
	_, errs[4] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now, has, oldest, waits := time.Now(), c.members.all(), time.Duration(0), c.refused.Load()
		for _, id := range slices.Sorted(maps.Keys(has)) {
			waiting, old, stopped := has[id].state(now)
			if oldest = max(oldest, old); stopped {
				waits++
			}
			if waiting >= 0 {
				o.ObserveInt64(lag, waiting, metric.WithAttributes(append(of[:len(of):len(of)], partitionLabel(id))...))
			}
		}
		o.ObserveFloat64(age, oldest.Seconds(), member)
		o.ObserveInt64(partitions, int64(len(has)), member)
		o.ObserveInt64(blocked, waits, member)
		return nil
	}, lag, age, partitions, blocked)
	return errors.Join(errs[:]...)
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
