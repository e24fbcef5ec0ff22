package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/services/events/internal/feed"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// Topic is the topic that the feed is written from. relay.Topic implements it.
type Topic interface {
	// Spans returns what Kafka has of each partition.
	Spans(ctx context.Context) ([]kafka.Span, error)
	// Message returns the message at an offset of a partition, or kafka.ErrNoMessage.
	Message(ctx context.Context, partition int, offset int64) (kafka.Message, error)
}

// completeness is what Kafka had before events were read.
//
// A page of events is complete if the feed had stored all of that. The page is one snapshot with the stored offsets, so a feed that
// goes back meanwhile is noticed either by its offsets or by its epoch. Kafka may have gone back too: then it ends before the
// stored offset, or has another message before it, until the consumer notices that and reads again.
type completeness struct {
	spans []kafka.Span
	err   error
}

const (
	catchUpLimit = 30 * time.Second
	catchUpPoll  = 50 * time.Millisecond
)

// beginCheck reads what Kafka has and waits until the feed has stored that, but no longer than half of the call's deadline. A feed
// that keeps up is always a few messages behind.
func (f *FeedRecords) beginCheck(ctx context.Context) (c completeness) {
	limit := catchUpLimit
	if deadline, set := ctx.Deadline(); set {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if c.spans, c.err = f.topic.Spans(ctx); c.err != nil {
		return c
	}
	for ctx.Err() == nil {
		stored, err := f.store.StoredOffsets(ctx)
		if err == nil && c.behind(stored) == "" {
			return c
		}
		select {
		case <-ctx.Done():
		case <-time.After(catchUpPoll):
		}
	}
	return c
}

// behind says what the feed has not stored of what Kafka had; empty if nothing.
func (c completeness) behind(stored map[int]kafka.Stored) string {
	if len(stored) != len(c.spans) {
		return fmt.Sprintf("the topic has %d partitions, and the feed has stored events of %d", len(c.spans), len(stored))
	}
	for _, span := range c.spans {
		if next := stored[span.Partition].Next; next < span.To || next < span.From {
			return offsets(span, next)
		}
	}
	return ""
}

func offsets(span kafka.Span, next int64) string {
	return fmt.Sprintf("partition %d is stored up to offset %d, and Kafka has %d to %d", span.Partition, next, span.From, span.To)
}

const wentBack = "the feed has gone back to an earlier state since the first page was read"

// incomplete says why the page may lack events that Kafka had when the check began; empty if it has them all.
func (f *FeedRecords) incomplete(ctx context.Context, c completeness, page store.OrderEvents) string {
	if page.Next.Epoch != page.Epoch {
		return wentBack
	}
	if c.err == nil {
		if reason := c.behind(page.Stored); reason != "" {
			return reason
		}
		var reason string
		if reason, c.err = f.replaced(ctx, page.Stored); c.err == nil {
			return reason
		}
	}
	f.log.WarnContext(ctx, "cannot compare the feed with Kafka", "error", c.err)
	return "the events service cannot read Kafka: its log says why"
}

// replaced says where Kafka no longer has the last message that the feed has stored, unless that is too old to be in Kafka.
func (f *FeedRecords) replaced(ctx context.Context, stored map[int]kafka.Stored) (string, error) {
	spans, err := f.topic.Spans(ctx)
	if err != nil {
		return "", err
	}
	for _, span := range spans {
		last := stored[span.Partition]
		if last.Next > span.To {
			return offsets(span, last.Next), nil
		}
		if last.LastID == "" || last.Next <= span.From {
			continue
		}
		m, err := f.topic.Message(ctx, span.Partition, last.Next-1)
		if err != nil && !errors.Is(err, kafka.ErrNoMessage) {
			return "", err
		}
		if err != nil || feed.EventID(m) != last.LastID {
			return fmt.Sprintf("partition %d has another message at offset %d than the one that is stored", span.Partition, last.Next-1), nil
		}
	}
	return "", nil
}
