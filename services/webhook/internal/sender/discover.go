package sender

import (
	"context"
	"time"
)

const (
	// discoverTimeout ends a search that takes too long. In this time it reads tens of millions of index entries.
	discoverTimeout = time.Minute
	// discoverShare bounds the cost of searches: after each, the sender waits so many times as long as it took.
	discoverShare = 20
	// discoverInterval bounds that wait.
	discoverInterval = 30 * time.Second
)

// discover searches the database for due deliveries that this process does not know of: retries, resent deliveries, and those
// of instances that crashed or have no free worker. It does so at every poll and whenever the sender is woken.
//
// Usually a search takes about a millisecond. While an old snapshot of the database is open, it reads the index entries of
// all deliveries that have finished since. Only such deliveries then wait longer.
func (s *Sender) discover(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		if err := s.search(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot search for due deliveries, trying again", "error", err)
		}
		pause := min(discoverShare*time.Since(began), discoverInterval)
		wait(ctx, s.woken, max(pause, tickInterval), s.cfg.Poll-pause)
	}
}

func (s *Sender) search(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	found, registered, err := s.store.Discover(ctx, s.id)
	if err == nil && !registered {
		// Claims of an unregistered sender get nothing, so what they have passed over must be found again.
		if err = s.store.Register(ctx, s.id); err == nil {
			found, _, err = s.store.Discover(ctx, s.id)
		}
	}
	if err != nil {
		return err
	}
	s.Notify(found)
	return nil
}
