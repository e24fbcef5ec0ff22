package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

var errCompacted = errors.New("the log has no message at an offset in the middle")

// Span is a part of a partition, such as what was written within a time span.
type Span struct {
	Partition int
	// From is the first offset, To the one after the last.
	From, To int64
}

// Spans returns the part of each partition of a topic that begins with the first message not older than from and ends before
// the first one not older than to. Clocks of the writers may differ, so it may have messages of other times.
func Spans(ctx context.Context, cfg Config, topic string, from, to time.Time) ([]Span, error) {
	inspector, err := NewInspector(cfg, topic, telemetry.Discard())
	if err != nil {
		return nil, err
	}
	defer inspector.Close()
	spans, err := inspector.Spans(ctx)
	if err != nil {
		return nil, err
	}
	for n, all := range spans {
		if spans[n].From, err = inspector.offsetAt(ctx, all.Partition, from); err != nil {
			return nil, err
		}
		if spans[n].To, err = inspector.offsetAt(ctx, all.Partition, to); err != nil {
			return nil, err
		}
		if spans[n].From < 0 {
			spans[n].From = all.To
		}
		if spans[n].To < 0 {
			spans[n].To = all.To
		}
		spans[n].To = max(spans[n].From, spans[n].To)
	}
	return spans, nil
}

// ReadSpan passes the messages of a span to a handler, in batches, in the order of their offsets.
func ReadSpan(
	ctx context.Context, cfg Config, topic string, span Span, handle func(ctx context.Context, msgs []Message) error,
) error {
	cluster, err := open(cfg, telemetry.Discard())
	if err != nil {
		return err
	}
	conns := newConns(cluster.dial)
	reader := kafkago.NewReader(kafkago.ReaderConfig{
		Brokers: cfg.Brokers, Topic: topic, Partition: span.Partition,
		Dialer:   &kafkago.Dialer{ClientID: cfg.ClientID, Timeout: dialTimeout, DialFunc: conns.dial},
		MinBytes: minBytes, MaxBytes: maxBytes, MaxWait: maxWait, ReadBatchTimeout: batchReadTimeout, ReadLagInterval: -1,
	})
	defer closeReader(reader, conns)
	if err := reader.SetOffset(span.From); err != nil {
		return err
	}
	for next := span.From; next < span.To; {
		var msgs []Message
		for len(msgs) < defaultMaxBatch && next < span.To {
			m, err := reader.FetchMessage(ctx)
			if err != nil {
				return fmt.Errorf("kafka: read %s/%d at offset %d: %w", topic, span.Partition, next, err)
			}
			if m.Offset != next {
				return fmt.Errorf("kafka: read %s/%d at offset %d: %w", topic, span.Partition, next, errCompacted)
			}
			msgs, next = append(msgs, message(m)), next+1
		}
		if err := handle(ctx, msgs); err != nil {
			return err
		}
	}
	return nil
}
