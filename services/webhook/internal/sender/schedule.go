package sender

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// schedule holds the endpoints that may have due deliveries, how many deliveries of each endpoint this sender has, and how
// healthy the endpoints are. It only says where to look: the database decides what is due, and discover finds what the schedule
// does not know.
type schedule struct {
	workers, perEndpoint     int
	occupiedAfter, probation time.Duration

	guard sync.Mutex
	due   map[store.Endpoint]scheduled
	// inFlight are the rows that this sender has: those that it sends, and those that the fan-out has reserved workers for.
	inFlight map[store.Endpoint]int
	// claiming is how many rows the claim in flight may get of each endpoint, and claimLimit of all.
	claiming   map[store.Endpoint]int
	claimLimit int
	histories  map[store.Endpoint]*history
}

type scheduled struct {
	store.Due

	// skipped means that the last claim for the endpoint got nothing. It comes after the others.
	skipped bool
}

func newSchedule(workers, perEndpoint int) *schedule {
	return &schedule{
		workers: workers, perEndpoint: perEndpoint, occupiedAfter: occupiedAfter, probation: probation,
		due: map[store.Endpoint]scheduled{}, inFlight: map[store.Endpoint]int{}, claiming: map[store.Endpoint]int{},
		histories: map[store.Endpoint]*history{},
	}
}

// add adds endpoints. It keeps the earlier time of an endpoint that is already scheduled.
func (s *schedule) add(skipped bool, list ...store.Due) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for _, d := range list {
		next := scheduled{d, skipped}
		if known, ok := s.due[d.Endpoint]; ok {
			next.skipped = skipped && known.skipped
			if known.Since.Before(d.Since) {
				next.Since = known.Since
			}
		}
		s.due[d.Endpoint] = next
	}
}

// startClaim returns the endpoints to claim for and how many rows the claim may get. Until claimed is called, no workers are
// reserved for these endpoints.
func (s *schedule) startClaim() (wanted []store.ClaimTarget, limit int) {
	s.guard.Lock()
	defer s.guard.Unlock()
	limit = s.freeWorkers()
	wanted = s.pick(limit)
	for _, w := range wanted {
		s.claiming[w.Endpoint] = w.Rows
	}
	s.claimLimit = limit
	return wanted, limit
}

// freeWorkers returns how many workers have no delivery, and get none by the claim in flight. The guard is held.
func (s *schedule) freeWorkers() int {
	busy, claiming := 0, 0
	for _, n := range s.inFlight {
		busy += n
	}
	for _, n := range s.claiming {
		claiming += n
	}
	return s.workers - busy - min(claiming, s.claimLimit)
}

// pick removes up to limit endpoints with a free slot and returns them: first those that were not tried yet, because the backlogs
// of dead ones have always waited longer; then those with the fewest deliveries in flight, so that a new endpoint comes before the
// next delivery of a busy one, and among those the one that has waited longest. The guard is held.
func (s *schedule) pick(limit int) []store.ClaimTarget {
	if limit <= 0 {
		return nil
	}
	used := s.workerUse()
	list := make([]store.ClaimTarget, 0, len(s.due))
	candidates := map[string]int{} // The healthy endpoints of each tenant.
	for _, d := range s.due {
		class := s.healthOf(d.Endpoint)
		if w := s.budget(d.Due); w.Rows > 0 && used.available(class, w.TenantID) > 0 {
			list = append(list, w)
			if class == healthy {
				candidates[w.TenantID]++
			}
		}
	}
	// A claim may get all rows that are wanted, so a tenant's healthy endpoints divide its workers. The others want one row each.
	for i, w := range list {
		if w.Rows > 1 {
			list[i].Rows = max(1, min(w.Rows, used.available(healthy, w.TenantID)/candidates[w.TenantID]))
		}
	}
	rank := func(w store.ClaimTarget) int {
		switch {
		case s.due[w.Endpoint].skipped:
			return s.perEndpoint
		case s.histories[w.Endpoint] == nil:
			return -1
		default:
			return w.InFlight
		}
	}
	slices.SortFunc(list, func(a, b store.ClaimTarget) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Since.Compare(b.Since))
	})
	picked := list[:0]
	for _, w := range list {
		class := s.healthOf(w.Endpoint)
		if len(picked) == limit || used.available(class, w.TenantID) <= 0 {
			continue
		}
		used.add(class, w.TenantID, 1)
		picked = append(picked, w)
		delete(s.due, w.Endpoint)
	}
	return picked
}

// budget says how much a claim may get for an endpoint: all of its free slots if it is healthy, one row at a time if it is slow,
// and one in flight if it is dead.
func (s *schedule) budget(d store.Due) store.ClaimTarget {
	w := store.ClaimTarget{Due: d, InFlight: s.inFlight[d.Endpoint]}
	w.Rows = max(0, s.perEndpoint-w.InFlight)
	switch s.healthOf(d.Endpoint) {
	case healthy:
	case slow:
		w.Rows = min(w.Rows, 1)
	case dead:
		w.Rows = max(0, 1-w.InFlight)
	}
	return w
}

// hasWork reports whether a claim might get something for an endpoint that the last claims have not skipped.
func (s *schedule) hasWork() bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	used := s.workerUse()
	for e, d := range s.due {
		if !d.skipped && s.budget(d.Due).Rows > 0 && used.available(s.healthOf(e), e.TenantID) > 0 {
			return true
		}
	}
	return false
}

// empty reports whether no endpoint is scheduled.
func (s *schedule) empty() bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	return len(s.due) == 0
}

// claimed ends the claim in flight and counts its deliveries as in flight.
func (s *schedule) claimed(list []store.Delivery) {
	s.guard.Lock()
	defer s.guard.Unlock()
	clear(s.claiming)
	for _, d := range list {
		s.inFlight[d.Endpoint]++
	}
}

// finished counts deliveries that are recorded or released.
func (s *schedule) finished(list ...store.Delivery) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for _, d := range list {
		s.free(d.Endpoint, 1)
	}
}

// free counts n rows as no longer in flight. The guard is held.
func (s *schedule) free(e store.Endpoint, n int) {
	if s.inFlight[e] -= n; s.inFlight[e] <= 0 {
		delete(s.inFlight, e)
	}
}
