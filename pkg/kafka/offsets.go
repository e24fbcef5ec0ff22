package kafka

import (
	"context"
	"errors"
	"time"
)

// Stored is how far a partition has been stored.
type Stored struct {
	// Next is the offset after the last stored message. It is negative if nothing has been stored.
	Next int64
	// LastID is the id of the message at Next-1; if it is empty, that message is not compared with Kafka's.
	LastID string
	// LastTime is the Kafka time of that message.
	LastTime time.Time
	// Emptied means that the store was made anew although the partition had reached Next. It continues there, and what it had
	// stored is lost. Only the first call returns it.
	Emptied bool
}

// Offsets are stored beside the data, in the transaction that stores the messages before them. So they are right also after
// the database was restored from a backup, which the offsets that the group commits in Kafka are not.
type Offsets interface {
	// Stored returns how far the partition has been stored. reached is the offset that it is known to have reached before;
	// negative if that is not known. If the stored offset is lower, the store went back to an earlier state.
	Stored(ctx context.Context, partition int, reached int64) (Stored, error)
	// Move changes the stored offset of a partition: from nothing to that of the oldest message, or back because Kafka has lost
	// its newest messages and writes others at their offsets. It fails if the stored offset is not from any more.
	Move(ctx context.Context, partition int, from, to int64) error
	// Durable returns when all that was stored before the call survives a crash of the store. It is called before offsets are
	// committed in Kafka, because the relay then deletes the outbox rows of the messages before them.
	Durable(ctx context.Context) error
}

// ErrBeyondStored is the error of a handler that refuses a batch because it begins after the stored offset. The messages in
// between would be lost, so the partition is read again from the stored offset.
var ErrBeyondStored = errors.New("batch begins after the stored offset")

var errMissing = errors.New("messages are gone from Kafka before they were stored")

const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
	// rewindMargin is how much older than the last stored message a message may be that was written after it. Clocks of several
	// relays differ. Messages that are read twice are dropped by their ids.
	rewindMargin = 10 * time.Minute
)

// position is a place in a partition: the offset to read next, and the id of the message before it, empty if not known.
type position struct {
	next int64
	id   string
}

// begin returns the position from which to read: the stored one, or an earlier one if Kafka has lost messages after it.
func (p *partition) begin(ctx context.Context) (position, error) {
	c := p.consumer
	if err := p.lookUpCommitted(ctx); err != nil {
		return position{}, err
	}
	stored, err := p.stored(ctx)
	if err != nil {
		return position{}, err
	}
	span, err := c.checks.span(ctx, p.id)
	switch {
	case err != nil:
		return position{}, err
	case stored.Next < 0:
		p.unblock()
		p.progress.begin(span.From, span.To)
		return position{next: span.From}, c.opts.Offsets.Move(ctx, p.id, stored.Next, span.From)
	case span.From > stored.Next:
		p.block(ctx, stored.Next, span.From)
		return position{}, errMissing
	}
	at := position{stored.Next, stored.LastID}
	holds, err := c.checks.holds(ctx, span, at, c.opts.ID)
	if err != nil {
		return position{}, err
	}
	if !holds {
		if at, err = p.rewind(ctx, stored, span); err != nil {
			return position{}, err
		}
	}
	if at.next != p.missing {
		p.unblock()
	}
	p.progress.begin(at.next, span.To)
	c.commits.handled(p.id, at.next) // Commits the offset also if no message comes.
	return at, nil
}

// lookUpCommitted looks up which offset the previous reader of the partition has committed.
func (p *partition) lookUpCommitted(ctx context.Context) error {
	if p.lookedUp {
		return nil
	}
	c := p.consumer
	committed, err := c.checks.committed(ctx, c.opts.Group, p.id)
	if err != nil {
		return err
	}
	p.lookedUp = true
	if offset, ok := committed[p.id]; ok {
		p.reached = offset
		c.commits.found(p.id, offset)
	}
	return nil
}

// stored returns how far the partition has been stored, and reports if that is less than it had reached.
func (p *partition) stored(ctx context.Context) (Stored, error) {
	c := p.consumer
	stored, err := c.opts.Offsets.Stored(ctx, p.id, p.reached)
	if err != nil {
		return stored, err
	}
	if stored.Next < p.reached {
		c.measured.setbacks()
		c.log.ErrorContext(ctx, "the store went back to an earlier state, reading its messages again",
			"partition", p.id, "offset", stored.Next, "reached", p.reached)
		c.commits.handled(p.id, max(0, stored.Next))
	}
	if stored.Emptied {
		c.measured.setbacks()
		c.log.ErrorContext(ctx, "the store is empty, continuing after the messages that were read before",
			"partition", p.id, "offset", stored.Next)
	}
	p.reached = stored.Next
	return stored, nil
}

// storedAsHandled reports whether the store has stored what was handled, and no more. It is true if the store cannot be read. A
// store that went back to an earlier state refuses the next batch, but in a quiet partition that may come days later.
func (p *partition) storedAsHandled(ctx context.Context) bool {
	reached := p.reached
	stored, err := p.stored(ctx)
	return err != nil || stored.Next == reached
}

// rewind moves the stored offset back to the oldest message that can have been written after the loss. Messages that it
// reads again are dropped by their ids.
func (p *partition) rewind(ctx context.Context, stored Stored, span Span) (position, error) {
	c := p.consumer
	to := span.From
	if !stored.LastTime.IsZero() {
		since, err := c.checks.offsetAt(ctx, p.id, stored.LastTime.Add(-rewindMargin))
		if err != nil {
			return position{}, err
		}
		// If no message before the loss is as new, the clock of the last one was ahead, and times say nothing.
		if since >= 0 && since < stored.Next-1 {
			to = max(span.From, since)
		}
	}
	c.measured.lostTails()
	c.log.ErrorContext(ctx, "the partition lost its newest messages or the topic was replaced, reading again",
		"partition", p.id, "offset", stored.Next, "end", span.To, "from", to)
	// First, because whoever finds more committed than stored takes it for a store that went back.
	if err := c.checks.commit(ctx, c.opts.Group, map[int]int64{p.id: to}); err != nil {
		return position{}, err
	}
	c.commits.found(p.id, to)
	if err := c.opts.Offsets.Move(ctx, p.id, stored.Next, to); err != nil {
		return position{}, err
	}
	p.reached = to
	return position{next: to}, nil
}

// block reports that messages are gone for good: a person decides how to continue.
func (p *partition) block(ctx context.Context, from, to int64) {
	c := p.consumer
	known := p.progress.blocked.Swap(true)
	if !known {
		c.measured.gaps()
	}
	if !known || time.Since(p.reminded) >= remindInterval {
		c.log.ErrorContext(ctx, "messages are missing", "partition", p.id, "from", from, "to", to)
		p.reminded = time.Now()
	}
}

func (p *partition) unblock() {
	p.missing = -1
	p.progress.blocked.Store(false)
}
