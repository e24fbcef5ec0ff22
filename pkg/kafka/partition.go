package kafka

import (
	"context"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// partition passes the messages of one assigned partition to the handler: pump fetches, work gathers and handles.
type partition struct {
	consumer *Consumer
	id       int
	commits  *commits
	fetched  chan kafkago.Message
	// next is the offset to fetch next. Before the first fetch it is the library's constant for the oldest offset. Only pump
	// uses it.
	next     int64
	progress *progress
}

func newPartition(c *Consumer, a kafkago.PartitionAssignment, commits *commits) *partition {
	return &partition{
		consumer: c, id: a.ID, commits: commits, next: a.Offset,
		fetched:  make(chan kafkago.Message, c.opts.MaxBatch),
		progress: &progress{next: a.Offset},
	}
}

// pump fetches until the context ends, with a new reader whenever one is stuck.
func (p *partition) pump(ctx context.Context) {
	for ctx.Err() == nil {
		p.read(ctx)
	}
}

// read fetches with one reader until the context ends or the reader is stuck.
func (p *partition) read(ctx context.Context) {
	c := p.consumer
	conns := newConns(c.dial)
	reader := kafkago.NewReader(c.readerConfig(p.id, conns))
	defer closeReader(reader, conns)
	if err := reader.SetOffset(p.next); err != nil {
		c.log.ErrorContext(ctx, "cannot set the offset", "partition", p.id, "offset", p.next, "error", err)
		return
	}
	check := time.Now().Add(c.opts.StallAfter)
	for {
		msg, err := fetch(ctx, reader, check)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if !p.accept(ctx, msg) {
				return
			}
			// The clock starts after the hand-over, because a busy worker delays it and the reader is not to blame.
			check = time.Now().Add(c.opts.StallAfter)
		case time.Now().Before(check):
			c.log.WarnContext(ctx, "cannot fetch, the reader tries again", "partition", p.id, "error", err)
		default:
			if p.stalled(ctx) {
				return
			}
			check = time.Now().Add(c.opts.StallAfter)
		}
	}
}

func fetch(ctx context.Context, reader *kafkago.Reader, until time.Time) (kafkago.Message, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	return reader.FetchMessage(ctx)
}

// accept hands a message to the worker. It returns false if the context ends first.
func (p *partition) accept(ctx context.Context, msg kafkago.Message) bool {
	if p.next >= 0 && msg.Offset > p.next {
		// Retention has deleted unread messages, or the topic is compacted. They are lost, so this is only reported.
		p.consumer.measured.gaps()
		p.consumer.log.ErrorContext(ctx, "messages are missing", "partition", p.id, "from", p.next, "to", msg.Offset)
	}
	p.progress.fetched(msg.Offset, msg.HighWaterMark)
	select {
	case p.fetched <- msg:
		p.next = msg.Offset + 1
		return true
	case <-ctx.Done():
		return false
	}
}
