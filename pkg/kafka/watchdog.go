package kafka

import (
	"context"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// checkTimeout bounds the question for the offsets of a partition.
const checkTimeout = 5 * time.Second

// stalled reports whether the partition holds messages that its reader should have brought by now, and counts that.
// The library's reader is known to get stuck now and then, for instance on a connection that is open and dead while
// it looks up the leader, where it sets no deadline. The question goes over connections of its own, so that the
// reader's trouble is not shared.
func (p *partition) stalled(ctx context.Context) bool {
	c := p.consumer
	first, end, err := p.offsets(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "cannot find out whether the reader is stuck", "partition", p.id, "error", err)
		}
		return false
	}
	next := p.next
	if next < 0 {
		next = first
	}
	p.progress.fetched(next, end)
	switch {
	case end > next:
		c.measured.restarts()
		c.log.ErrorContext(ctx, "the reader is stuck, starting another one",
			"partition", p.id, "offset", next, "end", end)
		return true
	case end < next:
		// Messages that were acknowledged are gone, or the topic was made anew under the old offsets. Going back by
		// itself would break the rule that handlers fence by offset, so this is for a person to decide.
		c.measured.pastEnd()
		c.log.ErrorContext(ctx, "the partition ends before the committed offset: messages were lost or the topic was replaced",
			"partition", p.id, "offset", next, "end", end)
	}
	return false
}

// offsets asks the partition's leader for its oldest offset and its end.
func (p *partition) offsets(ctx context.Context) (first, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	c := p.consumer
	transport := c.cfg.transport(c.opts.Topic)
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: c.cfg.address(), Transport: transport, Timeout: checkTimeout}
	res, err := client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{
			c.opts.Topic: {kafkago.FirstOffsetOf(p.id), kafkago.LastOffsetOf(p.id)},
		},
	})
	if err != nil {
		return 0, 0, err
	}
	for _, o := range res.Topics[c.opts.Topic] {
		if o.Partition == p.id {
			return o.FirstOffset, o.LastOffset, o.Error
		}
	}
	return 0, 0, fmt.Errorf("no offsets of %s/%d in the answer", c.opts.Topic, p.id)
}
