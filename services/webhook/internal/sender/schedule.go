package sender

import (
	"cmp"
	"slices"
	"sync"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// schedule holds the endpoints that may have due deliveries, and how many deliveries of each endpoint this sender has. It only
// says where to look: the database decides what is due, and Discover finds what the schedule does not know.
type schedule struct {
	guard    sync.Mutex
	due      map[store.Endpoint]scheduled
	inFlight map[store.Endpoint]int
}

type scheduled struct {
	store.Due

	// passed means that the last claim for the endpoint got nothing. It comes after the others.
	passed bool
}

func newSchedule() *schedule {
	return &schedule{due: map[store.Endpoint]scheduled{}, inFlight: map[store.Endpoint]int{}}
}

// add adds endpoints. It keeps the earlier time of an endpoint that is already scheduled.
func (s *schedule) add(passed bool, list ...store.Due) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for _, d := range list {
		next := scheduled{d, passed}
		if known, ok := s.due[d.Endpoint]; ok {
			next.passed = passed && known.passed
			if known.Since.Before(d.Since) {
				next.Since = known.Since
			}
		}
		s.due[d.Endpoint] = next
	}
}

// take removes up to limit endpoints with a free slot and returns them: those with the fewest deliveries in flight, so that a
// new endpoint comes before the next delivery of a busy one, and among those the one that has waited longest.
func (s *schedule) take(limit, perEndpoint int) []store.Wanted {
	s.guard.Lock()
	defer s.guard.Unlock()
	if limit <= 0 {
		return nil
	}
	list := make([]store.Wanted, 0, len(s.due))
	for endpoint, d := range s.due {
		if n := s.inFlight[endpoint]; n < perEndpoint {
			list = append(list, store.Wanted{Due: d.Due, InFlight: n})
		}
	}
	rank := func(w store.Wanted) int {
		if s.due[w.Endpoint].passed {
			return perEndpoint
		}
		return w.InFlight
	}
	slices.SortFunc(list, func(a, b store.Wanted) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Since.Compare(b.Since))
	})
	list = list[:min(limit, len(list))]
	for _, w := range list {
		delete(s.due, w.Endpoint)
	}
	return list
}

// empty reports whether no endpoint is scheduled.
func (s *schedule) empty() bool {
	s.guard.Lock()
	defer s.guard.Unlock()
	return len(s.due) == 0
}

// began counts claimed deliveries as in flight.
func (s *schedule) began(list []store.Delivery) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for _, d := range list {
		s.inFlight[d.Endpoint]++
	}
}

// ended counts deliveries that are recorded or released.
func (s *schedule) ended(list ...store.Delivery) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for _, d := range list {
		if s.inFlight[d.Endpoint]--; s.inFlight[d.Endpoint] <= 0 {
			delete(s.inFlight, d.Endpoint)
		}
	}
}
