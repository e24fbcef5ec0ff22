package sender

import (
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// health is what the attempts to an endpoint have shown of its receiver.
type health int

const (
	// healthy receivers have answered or refused quickly, at least since probation.
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
	// occupied is how many attempts in flight have taken longer than occupiedAfter.
	occupied int
	// lastAttempt is when an attempt last began or ended, lastOccupied when one last occupied its worker, and lastImpaired when the
	// endpoint was last impaired.
	lastAttempt, lastOccupied, lastImpaired time.Time
}

// impaired reports whether the receiver has occupied a worker and has not proved since that it is healthy.
func (h *history) impaired() bool { return h.health != healthy && !h.lastOccupied.IsZero() }

// runningAttempt is an attempt in flight.
type runningAttempt struct {
	schedule           *schedule
	of                 *history
	timer              *time.Timer
	occupied, finished bool
	// impaired is when the endpoint was last impaired: a change made before may have waited for its receiver.
	impaired time.Time
}

// startAttempt notes that an attempt begins. A receiver that does not answer is slow as soon as the attempt occupies its worker,
// not when it ends: until then all workers might be occupied.
func (s *schedule) startAttempt(e store.Endpoint) *runningAttempt {
	s.guard.Lock()
	defer s.guard.Unlock()
	of := s.known[e]
	if of == nil {
		of = &history{health: dead}
		s.known[e] = of
	}
	of.touch()
	a := &runningAttempt{schedule: s, of: of, impaired: of.lastImpaired}
	a.timer = time.AfterFunc(s.occupiedAfter, a.occupy)
	return a
}

// touch notes the time of an attempt.
func (h *history) touch() {
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
	a.occupied, a.of.lastOccupied = true, time.Now()
	a.of.occupied++
	a.of.health = max(a.of.health, slow)
}

// finish notes the result. A fast failure occupies no worker, so it says nothing of an endpoint that has occupied one.
func (a *runningAttempt) finish(delivered bool) {
	a.schedule.guard.Lock()
	defer a.schedule.guard.Unlock()
	a.timer.Stop()
	a.finished = true
	of := a.of
	of.touch()
	if a.occupied {
		of.occupied--
		of.lastOccupied = of.lastAttempt
	}
	proven := !a.occupied && of.occupied == 0 && of.lastAttempt.Sub(of.lastOccupied) >= a.schedule.probation
	switch {
	case delivered && proven, !a.occupied && of.lastOccupied.IsZero():
		of.health = healthy
	case delivered:
		of.health = slow
	case a.occupied:
		of.health = dead
	}
}

// healthOf returns the health of an endpoint.
func (s *schedule) healthOf(e store.Endpoint) health {
	if of := s.known[e]; of != nil {
		return of.health
	}
	return dead
}

// forget removes the endpoints that have not been tried for long. The guard is held.
func (s *schedule) forget(now time.Time) {
	for e, of := range s.known {
		if s.inFlight[e] == 0 && now.Sub(of.lastAttempt) > forgetAfter {
			delete(s.known, e)
		}
	}
}

// impaired returns the endpoints whose receivers are slow or do not answer.
func (s *schedule) impaired() (list []store.Endpoint) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for e, of := range s.known {
		if of.impaired() {
			list = append(list, e)
		}
	}
	return list
}

// count returns how many endpoints of each health were tried lately.
func (s *schedule) count() map[health]int {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.forget(time.Now())
	n := map[health]int{healthy: 0, slow: 0, dead: 0}
	for _, of := range s.known {
		n[of.health]++
	}
	return n
}
