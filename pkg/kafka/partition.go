package kafka

import (
	"context"
	"errors"
	"math"
	"net"
	"sync"
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
}

func newPartition(c *Consumer, id int) *partition {
	return &partition{consumer: c, id: id, reached: -1, missing: -1, progress: &progress{next: -1, end: -1}}
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

// session reads from a position on: a stream fetches, work gathers and handles. It ends with the context or when the partition
// must be read from another position. It reports whether it has handled a message.
func (p *partition) session(ctx context.Context, at position) (handled bool) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan fetched, maxBatch)
	var fetching sync.WaitGroup
	fetching.Go(func() {
		// The worker handles what was fetched before the end.
		defer close(out)
		p.stream(at, out).run(ctx)
	})
	handled = p.work(ctx, out)
	cancel()
	fetching.Wait()
	return handled
}

// fetchMetadataAge is long, because a broker that is no longer the leader answers the next fetch with an error, after which fresh
// metadata is requested.
const fetchMetadataAge = 5 * time.Minute

// fetched is a message, and where its partition ended when it was fetched.
type fetched struct {
	Message

	end int64
}

// stream fetches in a session.
type stream struct {
	*partition
	// at is the position to read next; the id is that of last, if that is set.
	at position
	// last is the last message that was passed on, or nil.
	last *Message
	out  chan<- fetched

	inspector *Inspector
	// dials counts the connections that were made. verifiedDials is what it was when the log was last compared, at verifiedAt.
	dials         atomic.Int64
	verifiedDials int64
	verifiedAt    time.Time
}

func (p *partition) stream(at position, out chan<- fetched) *stream {
	c := p.consumer
	s := &stream{partition: p, at: at, out: out, inspector: c.cluster.inspector(c.opts.Topic), verifiedAt: time.Now()}
	s.inspector.client.Timeout = c.opts.FetchTimeout
	s.inspector.transport.MetadataTTL = fetchMetadataAge
	s.inspector.transport.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		s.dials.Add(1)
		return c.dial(ctx, network, address)
	}
	return s
}

// run fetches until the context ends, or the partition must be read from another position.
func (s *stream) run(ctx context.Context) {
	c := s.consumer
	defer s.inspector.Close()
	most := fetchBounds{messages: math.MaxInt, bytes: maxBytes, wait: c.opts.FetchTimeout}
	for backoff := firstFetchBackoff; ctx.Err() == nil; {
		msgs, end, err := s.inspector.fetch(ctx, s.id, s.at.next, most)
		switch {
		case ctx.Err() != nil || errors.Is(err, ErrNoMessage):
			return
		case err != nil:
			c.log.WarnContext(ctx, "cannot fetch, trying again", "partition", s.id, "error", err)
			s.verifiedDials = -1 // The broker that answers next may have another log.
			wait(ctx, backoff)
			backoff = min(2*backoff, longestFetchBackoff)
			continue
		case !s.verify(ctx, len(msgs) == 0):
			return
		}
		backoff = firstFetchBackoff
		s.progress.fetched(end)
		for _, m := range msgs {
			if !s.accept(ctx, fetched{m, end}) {
				return
			}
		}
	}
}

// verify reports whether the log still has the last message that was passed on. It asks Kafka only after a connection was made,
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

// compare reports whether the log has the last message that was passed on.
func (s *stream) compare(ctx context.Context) (holds bool, err error) {
	c := s.consumer
	if s.last != nil {
		s.at.id = c.opts.ID(*s.last)
	}
	span, err := c.checks.span(ctx, s.id)
	if err != nil {
		return false, err
	}
	s.progress.fetched(span.To)
	return c.checks.holds(ctx, span, s.at, c.opts.ID)
}

// accept hands a message to the worker. It returns false if the context ends first or messages before it are missing.
func (s *stream) accept(ctx context.Context, m fetched) bool {
	if m.Offset > s.at.next {
		s.missing = s.at.next
		s.block(ctx, s.at.next, m.Offset)
		return false
	}
	select {
	case s.out <- m:
		s.at.next, s.last = m.Offset+1, &m.Message
		return true
	case <-ctx.Done():
		return false
	}
}

// wait returns after d, or when ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
