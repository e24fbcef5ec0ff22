package kafka

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// batchOf returns messages: the first without a trace, the second of a trace that is not recorded, the others each of a
// recorded one in causes.
func batchOf(t *testing.T, tel *telemetrytest.Record) (msgs []Message, causes []trace.SpanContext) {
	t.Helper()
	msgs = numbered(4, 1)
	msgs[1] = WithTraceParent(msgs[1], "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")
	for i := 2; i < len(msgs); i++ {
		ctx, span := tel.StartSpan(t.Context())
		span.End()
		msgs[i] = WithTraceParent(msgs[i], telemetry.TraceParent(ctx))
		causes = append(causes, span.SpanContext())
	}
	return msgs, causes
}

// requireOneWork checks that each cause has a span in its trace and linked to it, that the work ran inside the first span, and
// that the second one links to it.
func requireOneWork(t *testing.T, spans []sdktrace.ReadOnlySpan, causes []trace.SpanContext, work trace.SpanContext) {
	t.Helper()
	require.Len(t, spans, len(causes))
	for i, cause := range causes {
		require.Equal(t, cause.TraceID(), spans[i].SpanContext().TraceID())
		require.Equal(t, cause.SpanID(), spans[i].Parent().SpanID())
		require.Equal(t, cause.SpanID(), spans[i].Links()[0].SpanContext.SpanID())
	}
	require.Equal(t, spans[0].SpanContext().SpanID(), work.SpanID())
	require.Equal(t, work.SpanID(), spans[1].Links()[1].SpanContext.SpanID())
	require.Equal(t, "4", telemetrytest.Attributes(spans[0])["messaging.batch.message_count"])
}

func TestEachMessageOfARecordedTraceHasASpanThere(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	p, err := NewProducer(Config{}, "t", tel.Telemetry)
	require.NoError(t, err)
	c, err := NewConsumer(Config{}, options("t", "g"), tel.Telemetry, nil)
	require.NoError(t, err)
	msgs, causes := batchOf(t, tel)

	var sent []Message
	var work trace.SpanContext
	require.NoError(t, p.measured.around(t.Context(), msgs, func(ctx context.Context, msgs []Message) error {
		sent, work = msgs, trace.SpanContextFromContext(ctx)
		return nil
	}))
	produced := tel.Spans("send t")
	requireOneWork(t, produced, causes, work)
	require.Equal(t, trace.SpanKindProducer, produced[0].SpanKind())
	require.Empty(t, TraceParent(sent[0]))
	require.Equal(t, TraceParent(msgs[1]), TraceParent(sent[1]))
	require.Equal(t, produced[1].SpanContext().SpanID(), telemetry.ParseTraceParent(TraceParent(sent[3])).SpanID())
	unchanged := telemetry.ParseTraceParent(TraceParent(msgs[3]))
	require.Equal(t, causes[1].SpanID(), unchanged.SpanID(), "the caller's messages are unchanged")

	t.Run("and one where it is handled, which the handler is given", func(t *testing.T) {
		require.NoError(t, c.measured.around(t.Context(), sent, func(ctx context.Context, got []Message) error {
			require.Equal(t, trace.SpanContextFromContext(ctx).SpanID(), telemetry.ParseTraceParent(TraceParent(got[2])).SpanID())
			return nil
		}))
		handled := tel.Spans("process t")
		require.Equal(t, trace.SpanKindConsumer, handled[1].SpanKind())
		require.Equal(t, produced[1].SpanContext().SpanID(), handled[1].Parent().SpanID())
		require.Equal(t, "g", telemetrytest.Attributes(handled[1])["messaging.consumer.group.name"])
	})
	t.Run("which is marked as failed, without the text of the error", func(t *testing.T) {
		failure := errors.New("marked")
		require.ErrorIs(t, c.measured.around(t.Context(), sent, func(context.Context, []Message) error { return failure }), failure)
		last := tel.Spans("process t")[3]
		require.Equal(t, codes.Error, last.Status().Code)
		require.Empty(t, last.Status().Description)
	})
}

func TestWithoutTracingMessagesAreSentUnchanged(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	tel.Tracing = false
	p, err := NewProducer(Config{}, "t", tel.Telemetry)
	require.NoError(t, err)
	msgs, _ := batchOf(t, tel)
	before := len(tel.SpanNames())
	require.NoError(t, p.measured.around(t.Context(), msgs, func(_ context.Context, got []Message) error {
		require.Equal(t, msgs, got)
		return nil
	}))
	require.Len(t, tel.SpanNames(), before)
}

func TestAPartitionThatWasNotFoundHasNoLag(t *testing.T) {
	t.Parallel()
	cfg, topic := setup(t, 1)
	tel := telemetrytest.New()
	c, err := NewConsumer(cfg, options(topic, "measured"), tel.Telemetry, nil)
	require.NoError(t, err)
	p := newPartition(c, 0)
	c.reading.add(0, p.progress)
	require.Equal(t, []float64{1}, slices.Collect(maps.Values(tel.Values(t, "gifting.kafka.consumer.partitions"))))
	require.Empty(t, tel.Values(t, "gifting.kafka.consumer.lag"))
	p.progress.begin(7, 9)
	require.Equal(t, []float64{2}, slices.Collect(maps.Values(tel.Values(t, "gifting.kafka.consumer.lag"))))
}

func TestAConsumerMeasuresItsLag(t *testing.T) {
	t.Parallel()
	cfg, topic := setup(t, 1)
	tel := telemetrytest.New()
	producer, err := NewProducer(cfg, topic, tel.Telemetry)
	require.NoError(t, err)
	defer producer.Close()
	begun, proceed := make(chan struct{}), make(chan error)
	c, err := NewConsumer(cfg, options(topic, "measured"), tel.Telemetry, func(ctx context.Context, _ int, _ []Message) error {
		begun <- struct{}{}
		select {
		case err := <-proceed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	require.NoError(t, err)
	start(t, c)
	require.NoError(t, producer.Publish(t.Context(), numbered(3, 1)))
	<-begun

	member := "messaging.consumer.group.name=measured,messaging.destination.name=" + topic
	partition := member + ",messaging.destination.partition.id=0"
	lag := func() float64 { return tel.Values(t, "gifting.kafka.consumer.lag")[partition] }
	age := func() float64 { return tel.Values(t, "gifting.kafka.consumer.oldest_age")[member] }
	require.InDelta(t, 3, lag(), 0)
	require.InDelta(t, 1, tel.Values(t, "gifting.kafka.consumer.partitions")[member], 0)
	require.Eventually(t, func() bool { return age() > 0 }, patience, time.Millisecond)

	proceed <- errors.New("not now")
	<-begun
	require.InDelta(t, 1, tel.Values(t, "gifting.kafka.handler.errors")[member], 0)
	require.InDelta(t, 0, tel.Values(t, "gifting.kafka.reader.gaps")[member], 0)
	proceed <- nil
	require.Eventually(t, func() bool { return lag() == 0 }, patience, time.Millisecond)
	require.Zero(t, age())

	sent := "messaging.destination.name=" + topic + ",messaging.operation.name=send,messaging.system=kafka"
	require.Equal(t, map[string]float64{sent: 3}, tel.Values(t, "messaging.client.sent.messages"))
	require.Equal(t, map[string]float64{sent: 1}, tel.Values(t, "messaging.client.operation.duration"))
	handled := member + ",messaging.operation.name=process,messaging.system=kafka"
	require.Equal(t, map[string]float64{handled: 3}, tel.Values(t, "messaging.client.consumed.messages"))
	require.Equal(t, map[string]float64{handled: 1, "error.type=_OTHER," + handled: 1}, tel.Values(t, "messaging.process.duration"))
}
