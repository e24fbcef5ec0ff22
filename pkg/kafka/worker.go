package kafka

import (
	"context"
	"errors"
	"time"
)

const (
	// gatherWait is how long a batch waits for a message that the broker is known to have.
	gatherWait = 2 * time.Millisecond

	firstRetry   = 50 * time.Millisecond
	longestRetry = 5 * time.Second
)

// work passes batches to the handler until the context or the messages end, the handler refuses a batch, or the store has moved
// while no message came. It reports whether it has handled one.
func (p *partition) work(ctx context.Context, in <-chan fetched) (handled bool) {
	opts := p.consumer.opts
	batch := &batch{in: in, most: maxBatch, idleAfter: idleFetchTimeouts * opts.FetchTimeout, idleCheck: p.storedAsHandled}
	for batch.gather(ctx) {
		p.progress.handling(batch.messages[0].Time)
		if !p.handle(ctx, batch.messages) {
			return handled
		}
		next := batch.messages[len(batch.messages)-1].Offset + 1
		handled, p.reached = true, next
		p.progress.handled(next)
		p.consumer.commits.handled(p.id, next)
	}
	return handled
}

// handle calls the handler until it succeeds. It returns false if the context ends first or the handler refuses the batch.
func (p *partition) handle(ctx context.Context, msgs []Message) bool {
	c := p.consumer
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		err := c.measured.around(ctx, msgs, func(ctx context.Context, msgs []Message) error { return c.handler(ctx, p.id, msgs) })
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if errors.Is(err, ErrBeyondStored) {
			c.log.ErrorContext(ctx, "handler refused messages, reading again from the stored offset",
				"partition", p.id, "offset", msgs[0].Offset, "error", err)
			return false
		}
		c.measured.handlerErrors()
		c.log.ErrorContext(ctx, "handler failed, trying the same messages again",
			"partition", p.id, "offset", msgs[0].Offset, "messages", len(msgs), "wait", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
}

// batch collects messages with contiguous offsets.
type batch struct {
	in       <-chan fetched
	most     int
	messages []Message
	// next is a message that was read but begins the next batch.
	next *fetched
	// idleCheck is called whenever no message has come for idleAfter. If it returns false, there is no next batch.
	idleAfter time.Duration
	idleCheck func(ctx context.Context) bool
}

// gather fills the batch with what has been fetched: it waits for the first message, and for another only while the
// broker is known to have more. It returns false when the context or the messages have ended, or idleCheck returns false.
func (b *batch) gather(ctx context.Context) bool {
	first, ok := b.first(ctx)
	if !ok {
		return false
	}
	b.messages = append(make([]Message, 0, 1+len(b.in)), first.Message)
	for last := first; len(b.messages) < b.most; {
		m, ok := b.more(ctx, last.Offset+1 < last.end)
		if !ok {
			break
		}
		if m.Offset != last.Offset+1 {
			b.next = &m
			break
		}
		b.messages = append(b.messages, m.Message)
		last = m
	}
	return true
}

func (b *batch) first(ctx context.Context) (fetched, bool) {
	if b.next != nil {
		m := *b.next
		b.next = nil
		return m, true
	}
	ticker := time.NewTicker(b.idleAfter)
	defer ticker.Stop()
	for {
		select {
		case m, ok := <-b.in:
			return m, ok && ctx.Err() == nil
		case <-ctx.Done():
			return fetched{}, false
		case <-ticker.C:
			if !b.idleCheck(ctx) {
				return fetched{}, false
			}
		}
	}
}

func (b *batch) more(ctx context.Context, coming bool) (fetched, bool) {
	select {
	case m, ok := <-b.in:
		return m, ok
	default:
	}
	if !coming {
		return fetched{}, false
	}
	timer := time.NewTimer(gatherWait)
	defer timer.Stop()
	select {
	case m, ok := <-b.in:
		return m, ok
	case <-timer.C:
	case <-ctx.Done():
	}
	return fetched{}, false
}
