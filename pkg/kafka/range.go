package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	inspector, err := NewInspector(cfg, topic, telemetry.Discard())
	if err != nil {
		return err
	}
	defer inspector.Close()
	for next := span.From; next < span.To; {
		most := fetchBounds{messages: int(min(maxBatch, span.To-next)), bytes: maxBytes, wait: inspectTimeout}
		msgs, _, err := inspector.fetch(ctx, span.Partition, next, most)
		if err != nil {
			return err
		}
		for _, m := range msgs {
			if m.Offset != next {
				return fmt.Errorf("kafka: read %s/%d at offset %d: %w", topic, span.Partition, next, errCompacted)
			}
			next++
		}
		if len(msgs) == 0 {
			return fmt.Errorf("kafka: read %s/%d at offset %d: %w", topic, span.Partition, next, ErrNoMessage)
		}
		if err := handle(ctx, msgs); err != nil {
			return err
		}
	}
	return nil
}
