package kafka

import (
	"context"
	"errors"
	"math"
	"net"
	"sync/atomic"
	"time"
)

// partition passes the messages of one partition to the handler.
type partition struct {
	consumer *Consumer
	id       int
	progress *progress
	// lookedUp means that reached was looked up in Kafka, where the previous reader of the partition has committed it.
	lookedUp bool
	// reached is the offset that the store is known to have reached; negative if that is not known.
	reached int64
	// missing is the offset at which the log has no message, although it has later ones; negative if there is none.
	missing int64
	// reminded is when missing messages were last logged.
	reminded time.Time
}

func newPartition(c *Consumer, id int) *partition {
	return &partition{consumer: c, id: id, reached: -1, missing: -1, progress: newProgress()}
}

// run reads from the stored offset until the context ends, and begins again whenever that offset turns out to be another than
// the reader's.
func (p *partition) run(ctx context.Context) {
	c := p.consumer
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		at, err := p.begin(ctx)
		if err == nil {
			if p.session(ctx, at) {
				pause = firstPause
			}
		} else if ctx.Err() == nil && !errors.Is(err, errMissing) {
			c.log.WarnContext(ctx, "cannot find out where to read, trying again", "partition", p.id, "error", err)
		}
		wait(ctx, pause)
	}
}

// fetchMetadataAge is long, because a broker that is no longer the leader answers the next fetch with an error, after which fresh
// metadata is requested.
const fetchMetadataAge = 5 * time.Minute

// session reads from a position on: it fetches messages and passes them to the handler, in turn. Meanwhile the broker collects
// those of the next fetch. It ends with the context or when the partition must be read from another position. It reports whether
// it has handled a message.
func (p *partition) session(ctx context.Context, at position) (handled bool) {
	s := p.stream(at)
	defer s.inspector.Close()
	s.run(ctx)
	return s.at.next > at.next
}

// stream reads the partition in a session.
type stream struct {
	*partition
	// at is the position to read next.
	at position

	inspector *Inspector
	// dials counts the connections that were made. verifiedDials is what it was when the log was last compared, at verifiedAt.
	dials         atomic.Int64
	verifiedDials int64
	verifiedAt    time.Time
	// storedAt is when the store was last known to have stored what was handled.
	storedAt time.Time
}

func (p *partition) stream(at position) *stream {
	c := p.consumer
	s := &stream{partition: p, at: at, inspector: c.cluster.inspector(c.opts.Topic), verifiedAt: time.Now(), storedAt: time.Now()}
	s.inspector.client.Timeout = c.opts.FetchTimeout
	s.inspector.transport.MetadataTTL = fetchMetadataAge
	s.inspector.transport.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		s.dials.Add(1)
		return c.dial(ctx, network, address)
	}
	return s
}

func (s *stream) run(ctx context.Context) {
	opts := s.consumer.opts
	most := fetchBounds{messages: math.MaxInt, bytes: maxBytes, wait: opts.FetchTimeout}
	for backoff := firstFetchBackoff; ctx.Err() == nil; {
		msgs, end, err := s.inspector.fetch(ctx, s.id, s.at.next, most)
		switch {
		case ctx.Err() != nil || errors.Is(err, ErrNoMessage):
			return
		case err != nil:
			s.consumer.log.WarnContext(ctx, "cannot fetch, trying again", "partition", s.id, "error", err)
			s.verifiedDials = -1 // The broker that answers next may have another log.
			wait(ctx, backoff)
			backoff = min(2*backoff, longestFetchBackoff)
			continue
		case !s.verify(ctx, len(msgs) == 0):
			return
		}
		backoff = firstFetchBackoff
		s.progress.end.Store(end)
		if !s.pass(ctx, msgs) {
			return
		}
		if time.Since(s.storedAt) >= idleFetchTimeouts*opts.FetchTimeout {
			if !s.storedAsHandled(ctx) {
				return
			}
			s.storedAt = time.Now()
		}
	}
}

// pass passes the messages of a fetch to the handler, in batches. It returns false if the partition must be read from another
// position: messages are missing, or the handler refuses some.
func (s *stream) pass(ctx context.Context, msgs []Message) bool {
	for len(msgs) > 0 && ctx.Err() == nil {
		n := 0
		for n < min(len(msgs), maxBatch) && msgs[n].Offset == s.at.next+int64(n) {
			n++
		}
		if n == 0 {
			s.missing = s.at.next
			s.block(ctx, s.at.next, msgs[0].Offset)
			return false
		}
		s.progress.oldest.Store(&msgs[0].Time)
		if !s.handle(ctx, msgs[:n:n]) {
			return false
		}
		s.at = position{s.at.next + int64(n), s.consumer.opts.ID(msgs[n-1])}
		s.reached, s.storedAt = s.at.next, time.Now()
		s.progress.handled(s.at.next)
		s.consumer.commits.handled(s.id, s.at.next)
		msgs = msgs[n:]
	}
	return true
}

// handle calls the handler until it succeeds. It returns false if the context ends first or the handler refuses the batch.
func (p *partition) handle(ctx context.Context, msgs []Message) bool {
	c := p.consumer
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		err := c.measured.around(ctx, msgs, func(ctx context.Context, msgs []Message) error { return c.handler(ctx, p.id, msgs) })
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case errors.Is(err, ErrBeyondStored):
			c.log.ErrorContext(ctx, "handler refused messages, reading again from the stored offset",
				"partition", p.id, "offset", msgs[0].Offset, "error", err)
			return false
		}
		c.measured.handlerErrors()
		c.log.ErrorContext(ctx, "handler failed, trying the same messages again",
			"partition", p.id, "offset", msgs[0].Offset, "messages", len(msgs), "wait", pause, "error", err)
		wait(ctx, pause)
	}
	return false
}

// verify reports whether the log still has the last message that was handled. It asks Kafka only after a connection was made,
// since brokers close the connections when a partition gets another leader, and from time to time while no message comes.
func (s *stream) verify(ctx context.Context, quiet bool) bool {
	dials := s.dials.Load()
	due := quiet && time.Since(s.verifiedAt) >= s.consumer.opts.FetchTimeout
	if dials == s.verifiedDials && !due {
		return true
	}
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		holds, err := s.compare(ctx)
		if err == nil {
			s.verifiedDials, s.verifiedAt = dials, time.Now()
			return holds
		}
		if ctx.Err() == nil {
			s.consumer.log.WarnContext(ctx, "cannot compare the last message with Kafka, trying again", "partition", s.id, "error", err)
		}
		wait(ctx, pause)
	}
	return false
}

// compare reports whether the log has the last message that was handled.
func (s *stream) compare(ctx context.Context) (holds bool, err error) {
	c := s.consumer
	span, err := c.checks.span(ctx, s.id)
	if err != nil {
		return false, err
	}
	s.progress.end.Store(span.To)
	return c.checks.holds(ctx, span, s.at, c.opts.ID)
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
