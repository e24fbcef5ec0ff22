package kafka

import (
	"context"
	"errors"
	"fmt"
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

// Observe measures and traces what the producer sends. It is called before the first Publish.
func (p *Producer) Observe(tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	labels := labelsOf(operationSend, p.topic)
	var errs [2]error
	o := newObserved(labels)
	o.duration, errs[0] = meter.Float64Histogram("messaging.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of sending a batch of messages."), telemetry.Durations())
	o.messages, errs[1] = meter.Int64Counter("messaging.client.sent.messages",
		metric.WithDescription("Messages that all in-sync replicas have."))
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("kafka: metrics of the producer: %w", err)
	}
	o.spans = newSpans(tel, trace.SpanKindProducer, operationSend, p.topic, labels)
	p.observed = o
	return nil
}

// Observe measures and traces what the consumer handles and how far behind it is. It is called before Run.
func (c *Consumer) Observe(tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	labels := append(labelsOf(operationProcess, c.opts.Topic), semconv.MessagingConsumerGroupName(c.opts.Group))
	var errs [3]error
	o := newObserved(labels)
	o.duration, errs[0] = meter.Float64Histogram("messaging.process.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of handling a batch of messages."), telemetry.Durations())
	o.messages, errs[1] = meter.Int64Counter("messaging.client.consumed.messages",
		metric.WithDescription("Messages that were handled."))
	errs[2] = c.observeProgress(meter)
	if err := errors.Join(errs[:]...); err != nil {
		return fmt.Errorf("kafka: metrics of the consumer: %w", err)
	}
	o.spans = newSpans(tel, trace.SpanKindConsumer, operationProcess, c.opts.Topic, labels)
	c.observed = o
	return nil
}

// observed measures batches of messages. Nil: nothing is reported.
type observed struct {
	spans      *spans
	duration   metric.Float64Histogram
	messages   metric.Int64Counter
	done, fail metric.MeasurementOption
}

func newObserved(labels []attribute.KeyValue) *observed {
	return &observed{
		done: metric.WithAttributeSet(attribute.NewSet(labels...)),
		fail: metric.WithAttributeSet(attribute.NewSet(append(labels[:len(labels):len(labels)], semconv.ErrorTypeOther)...)),
	}
}

// around measures and traces work on a batch.
func (o *observed) around(ctx context.Context, msgs []Message, work func(ctx context.Context, msgs []Message) error) error {
	if o == nil {
		return work(ctx, msgs)
	}
	began := time.Now()
	inside, msgs, spans := o.spans.begin(ctx, msgs)
	err := work(inside, msgs)
	spans.end(err)
	if err != nil {
		o.duration.Record(inside, time.Since(began).Seconds(), o.fail)
		return err
	}
	o.duration.Record(inside, time.Since(began).Seconds(), o.done)
	o.messages.Add(inside, int64(len(msgs)), o.done)
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
