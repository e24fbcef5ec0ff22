package kafka

import (
	"context"
	"errors"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// partition passes the messages of one assigned partition to the handler.
type partition struct {
	consumer *Consumer
	id       int
	commits  *commits
	progress *progress
	// reached is the offset that the store is known to have reached; negative if that is not known.
	reached int64
	// missing is the offset at which the log has no message, although it has later ones; negative if there is none.
	missing int64
}

func newPartition(c *Consumer, a kafkago.PartitionAssignment, commits *commits) *partition {
	return &partition{
		consumer: c, id: a.ID, commits: commits, reached: a.Offset, missing: -1,
		progress: &progress{next: a.Offset, end: -1},
	}
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
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// session reads from a position on: pump fetches, work gathers and handles. It ends with the context or when the partition
// must be read from another position. It reports whether it has handled a message.
func (p *partition) session(ctx context.Context, at position) (handled bool) {
	ctx, cancel := context.WithCancel(ctx)
	fetched := make(chan kafkago.Message, p.consumer.opts.MaxBatch)
	var pump sync.WaitGroup
	pump.Go(func() {
		// The worker handles what was fetched before the end.
		defer close(fetched)
		p.pump(ctx, &stream{partition: p, at: at, out: fetched})
	})
	handled = p.work(ctx, fetched)
	cancel()
	pump.Wait()
	return handled
}

// stream is what pump has read in a session.
type stream struct {
	*partition
	// at is the position to read next; the id is that of last, if that is set.
	at position
	// last is the last message that was passed on, or nil.
	last *kafkago.Message
	out  chan<- kafkago.Message
}

// pump fetches until the context or the session ends, with a new reader whenever one is stuck.
func (p *partition) pump(ctx context.Context, s *stream) {
	for ctx.Err() == nil && s.read(ctx) {
	}
}

// read fetches with one reader until the context ends or the reader is stuck. It returns false if the session must end.
func (s *stream) read(ctx context.Context) (again bool) {
	c := s.consumer
	conns := newConns(c.dial)
	reader := kafkago.NewReader(c.readerConfig(s.id, conns))
	defer closeReader(reader, conns)
	if err := reader.SetOffset(s.at.next); err != nil {
		c.log.ErrorContext(ctx, "cannot set the offset", "partition", s.id, "offset", s.at.next, "error", err)
		return false
	}
	check := time.Now().Add(c.opts.StallAfter)
	for {
		msg, err := fetch(ctx, reader, check)
		switch {
		case ctx.Err() != nil:
			return false
		case err == nil:
			if !s.verified(ctx, conns) || !s.accept(ctx, msg) {
				return false
			}
			// The clock starts after the hand-over, because a busy worker delays it and the reader is not to blame.
			check = time.Now().Add(c.opts.StallAfter)
		case time.Now().Before(check):
			c.log.WarnContext(ctx, "cannot fetch, the reader tries again", "partition", s.id, "error", err)
		default:
			if stuck, lost := s.stalled(ctx); stuck || lost {
				return !lost
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

// verified reports whether the log still has the last message that was passed on. It asks Kafka only after the reader has made
// a connection: brokers close the connections of readers when a partition gets another leader.
func (s *stream) verified(ctx context.Context, conns *conns) bool {
	if !conns.renewed() {
		return true
	}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		_, holds, err := s.compare(ctx)
		if err == nil {
			return holds
		}
		if ctx.Err() == nil {
			s.consumer.log.WarnContext(ctx, "cannot compare the last message with Kafka, trying again", "partition", s.id, "error", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
}

// stalled reports whether the partition holds messages that its reader should have brought by now, and counts that. The
// library's reader sometimes gets stuck, for instance on a dead connection while it looks up the leader, because it sets no
// deadline there. It also reports whether the log has lost the last message that was passed on.
func (s *stream) stalled(ctx context.Context) (stuck, lost bool) {
	c := s.consumer
	end, holds, err := s.compare(ctx)
	switch {
	case err != nil:
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "cannot find out whether the reader is stuck", "partition", s.id, "error", err)
		}
		return false, false
	case !holds:
		return false, true
	}
	s.progress.fetched(end)
	if end <= s.at.next {
		return false, false
	}
	c.measured.restarts()
	c.log.ErrorContext(ctx, "the reader is stuck, starting another one",
		"partition", s.id, "offset", s.at.next, "end", end)
	return true, false
}

// compare returns the end of the log and whether it holds the last message that was passed on.
func (s *stream) compare(ctx context.Context) (end int64, holds bool, err error) {
	if s.last != nil {
		s.at.id = s.consumer.opts.ID(message(*s.last))
	}
	c := s.consumer
	log, err := c.checks.span(ctx, s.id)
	if err == nil {
		holds, err = c.checks.holds(ctx, log, s.at, c.opts.ID)
	}
	return log.To, holds, err
}

// accept hands a message to the worker. It returns false if the context ends first or messages before it are missing.
func (s *stream) accept(ctx context.Context, msg kafkago.Message) bool {
	if msg.Offset > s.at.next {
		s.missing = s.at.next
		s.block(ctx, s.at.next, msg.Offset)
		return false
	}
	s.progress.fetched(msg.HighWaterMark)
	select {
	case s.out <- msg:
		s.at.next, s.last = msg.Offset+1, &msg
		return true
	case <-ctx.Done():
		return false
	}
}
