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
	// maxDiscoverPause bounds that wait.
	maxDiscoverPause = 30 * time.Second

	// registerInterval is how often the registration is renewed: long before the store would remove it, but not at every search.
	registerInterval = time.Minute
	registerTimeout  = 5 * time.Second
)

// heartbeat is the longest time between two searches. It is shorter than the pause after any attempt, and than any lease, that
// another instance may have begun since the last search. So a search finds such a delivery before it is due.
const heartbeat = goneInterval

// discover searches the database for due deliveries that this process does not know of: retries, resent deliveries, and those
// of instances that crashed or have no free worker. It does so when the next of them is due, but not more often than every poll,
// at every heartbeat, and whenever the sender is woken. While nothing is due, that is all that a sender asks the database.
//
// Usually a search takes about a millisecond. While an old snapshot of the database is open, it reads the index entries of
// all deliveries that have finished since. Only deliveries that a search must find then wait longer.
//
// It also keeps the sender registered, in a statement of its own: a first attempt must not need a search that succeeds.
func (s *Sender) discover(ctx context.Context) {
	for ctx.Err() == nil {
		s.register(ctx)
		began := time.Now()
		next, err := s.search(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "cannot search for due deliveries, trying again", "error", err)
		}
		pause := min(discoverShare*time.Since(began), maxDiscoverPause)
		wait(ctx, s.woken, max(pause, tickInterval), next-pause)
	}
}

// nextSearch returns the time until the next search.
func (s *Sender) nextSearch(found store.Discovery) time.Duration {
	next := s.heartbeat
	if found.NextDue > 0 {
		next = min(next, found.NextDue)
	}
	if len(found.Due) > 0 {
		next = 0
	}
	return max(next, s.cfg.Poll)
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

// search searches once and returns the time until the next search.
func (s *Sender) search(ctx context.Context) (next time.Duration, err error) {
	all := time.Since(s.lookedForGone) >= s.goneInterval
	found, err := s.searchOnce(ctx, all)
	if err != nil {
		// A failed search does not say whether the registration still exists. A database that was restored may lack it.
		s.renewed = time.Time{}
		return s.cfg.Poll, err
	}
	if !found.Registered {
		// Claims of an unregistered sender get nothing, so what they have passed over must be found again.
		s.registered.Store(false)
		s.renewed = time.Time{}
		s.register(ctx)
		if found, err = s.searchOnce(ctx, all); err != nil {
			return s.cfg.Poll, err
		}
	}
	s.Notify(found.Due)
	if next = s.nextSearch(found); !all {
		return next, nil
	}
	s.lookedForGone = time.Now()
	return next, s.dropGone(ctx, found)
}

func (s *Sender) searchOnce(ctx context.Context, all bool) (store.Discovery, error) {
	ctx, cancel := context.WithTimeout(ctx, s.discoverTimeout)
	defer cancel()
	return s.store.Discover(ctx, s.id, all)
}
