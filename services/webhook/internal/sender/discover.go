package sender

import (
	"context"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	// discoverTimeout ends a search that takes too long. In this time it reads tens of millions of index entries.
	discoverTimeout = time.Minute
	// discoverShare bounds the cost of searches: after each, the sender waits so many times as long as it took.
	discoverShare = 20
	// discoverInterval bounds that wait.
	discoverInterval = 30 * time.Second

	// registerInterval is how often the registration is renewed: long before the store would remove it, but not at every search.
	registerInterval = time.Minute
	registerTimeout  = 5 * time.Second
)

// discover searches the database for due deliveries that this process does not know of: retries, resent deliveries, and those
// of instances that crashed or have no free worker. It does so at every poll and whenever the sender is woken.
//
// Usually a search takes about a millisecond. While an old snapshot of the database is open, it reads the index entries of
// all deliveries that have finished since. Only such deliveries then wait longer.
//
// It also keeps the sender registered, in a statement of its own: a first attempt must not need a search that succeeds.
func (s *Sender) discover(ctx context.Context) {
	for ctx.Err() == nil {
		s.register(ctx)
		began := time.Now()
		if err := s.search(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot search for due deliveries, trying again", "error", err)
		}
		pause := min(discoverShare*time.Since(began), discoverInterval)
		wait(ctx, s.woken, max(pause, tickInterval), s.cfg.Poll-pause)
	}
}

// register registers the sender, or renews that if it is time.
func (s *Sender) register(ctx context.Context) {
	if time.Since(s.renewed) < registerInterval {
		return
	}
	timed, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	if err := s.store.Register(timed, s.id); err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot register the sender, trying again", "error", err)
		}
		return
	}
	s.renewed = time.Now()
	s.registered.Store(true)
	signal(s.ready)
}

func (s *Sender) search(ctx context.Context) error {
	all := time.Since(s.lookedForGone) >= s.goneInterval
	found, err := s.searchOnce(ctx, all)
	if err != nil {
		// It cannot tell whether the registration still exists, for instance in a database that was restored.
		s.renewed = time.Time{}
		return err
	}
	if !found.Registered {
		// Claims of an unregistered sender get nothing, so what they have passed over must be found again.
		s.registered.Store(false)
		s.renewed = time.Time{}
		s.register(ctx)
		if found, err = s.searchOnce(ctx, all); err != nil {
			return err
		}
	}
	s.Notify(found.Due)
	if !all {
		return nil
	}
	s.lookedForGone = time.Now()
	return s.dropGone(ctx, found)
}

func (s *Sender) searchOnce(ctx context.Context, all bool) (store.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, s.discoverTimeout)
	defer cancel()
	return s.store.Discover(ctx, s.id, all)
}
