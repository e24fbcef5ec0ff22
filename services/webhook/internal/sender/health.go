package sender

import (
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// health is what the attempts to an endpoint have shown of its receiver.
type health int

const (
	// healthy receivers answer or refuse quickly. One that was impaired must have answered quickly, probation or longer after it last
	// occupied a worker.
	healthy health = iota
	// slow receivers occupy workers, but accept events.
	slow
	// dead receivers have occupied a worker and failed since they last accepted an event, or have not been tried by this process.
	// They get one attempt at a time.
	dead
)

var healthNames = map[health]string{healthy: "healthy", slow: "slow", dead: "dead"}

const (
	// occupiedAfter is how long an attempt may take before it counts as occupying its worker.
	occupiedAfter = time.Second
	// probation is for how long a receiver must not occupy a worker to be healthy again. Otherwise one that only answers at times
	// could occupy the workers that are left to the healthy ones, again and again.
	probation = 30 * time.Second
	// forgetAfter is how long the health of an endpoint without attempts is remembered.
	forgetAfter = time.Hour
)

// history is what is remembered of an endpoint.
type history struct {
	health health
	// occupiedWorkers is how many attempts in flight have taken longer than occupiedAfter.
	occupiedWorkers int
	// lastAttempt is when an attempt last began or ended, lastOccupied when one last occupied its worker, and lastImpaired when the
	// endpoint was last impaired.
	lastAttempt, lastOccupied, lastImpaired time.Time
}

// impaired reports whether the receiver has occupied a worker and has not proved since that it is healthy.
func (h *history) impaired() bool { return h.health != healthy && !h.lastOccupied.IsZero() }

// runningAttempt is an attempt in flight.
type runningAttempt struct {
	schedule           *schedule
	history            *history
	timer              *time.Timer
	occupied, finished bool
	// lastImpaired is the endpoint's, when the attempt began. A change made before it may have waited for the receiver, so its
	// delay is not measured.
	lastImpaired time.Time
}

// startAttempt notes that an attempt begins. A receiver that does not answer is slow as soon as the attempt occupies its worker,
// not when it ends: until then all workers might be occupied.
func (s *schedule) startAttempt(e store.Endpoint) *runningAttempt {
	s.guard.Lock()
	defer s.guard.Unlock()
	h := s.histories[e]
	if h == nil {
		h = &history{health: dead}
		s.histories[e] = h
	}
	h.noteAttempt()
	a := &runningAttempt{schedule: s, history: h, lastImpaired: h.lastImpaired}
	a.timer = time.AfterFunc(s.occupiedAfter, a.occupy)
	return a
}

// noteAttempt notes that an attempt begins or ends now, and whether the endpoint is impaired meanwhile.
func (h *history) noteAttempt() {
	if h.lastAttempt = time.Now(); h.impaired() {
		h.lastImpaired = h.lastAttempt
	}
}

// occupy notes that the attempt occupies its worker.
func (a *runningAttempt) occupy() {
	a.schedule.guard.Lock()
	defer a.schedule.guard.Unlock()
	if a.finished {
		return
	}
	a.occupied, a.history.lastOccupied = true, time.Now()
	a.history.occupiedWorkers++
	a.history.health = max(a.history.health, slow)
}

// finish notes the result. A fast failure occupies no worker, so it says nothing of an endpoint that has occupied one.
func (a *runningAttempt) finish(delivered bool) {
	a.schedule.guard.Lock()
	defer a.schedule.guard.Unlock()
	a.timer.Stop()
	a.finished = true
	h := a.history
	h.noteAttempt()
	if a.occupied {
		h.occupiedWorkers--
		h.lastOccupied = h.lastAttempt
	}
	proven := !a.occupied && h.occupiedWorkers == 0 && h.lastAttempt.Sub(h.lastOccupied) >= a.schedule.probation
	switch {
	case delivered && proven, !a.occupied && h.lastOccupied.IsZero():
		h.health = healthy
	case delivered:
		h.health = slow
	case a.occupied:
		h.health = dead
	}
}

// healthOf returns the health of an endpoint. The guard is held.
func (s *schedule) healthOf(e store.Endpoint) health {
	if h := s.histories[e]; h != nil {
		return h.health
	}
	return dead
}

// forget removes the endpoints that have not been tried for long. The guard is held.
func (s *schedule) forget(now time.Time) {
	for e, h := range s.histories {
		if s.inFlight[e] == 0 && now.Sub(h.lastAttempt) > forgetAfter {
			delete(s.histories, e)
		}
	}
}

// impaired returns the endpoints whose receivers are slow or do not answer.
func (s *schedule) impaired() (list []store.Endpoint) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for e, h := range s.histories {
		if h.impaired() {
			list = append(list, e)
		}
	}
	return list
}

// count forgets old histories and returns how many endpoints of each health are left.
func (s *schedule) count() map[health]int {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.forget(time.Now())
	n := map[health]int{healthy: 0, slow: 0, dead: 0}
	for _, h := range s.histories {
		n[h.health]++
	}
	return n
}
