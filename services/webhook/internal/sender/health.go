package sender

import (
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/store"
)

// health is what the attempts to an endpoint have shown of its receiver. The values are in the order in which endpoints get
// workers: each class leaves a quarter of them to the better ones.
type health int

const (
	// healthy receivers have answered or refused quickly, at least since probation.
	healthy health = iota
	// unknown receivers have not been tried by this process.
	unknown
	// slow receivers occupy workers, but may answer.
	slow
	// dead receivers have only occupied workers lately. One attempt at a time shows whether that is still so.
	dead

	classes
)

var healthNames = [classes]string{healthy: "healthy", unknown: "unknown", slow: "slow", dead: "dead"}

const (
	// occupiedAfter is how long an attempt may take before it counts as occupying its worker.
	occupiedAfter = time.Second
	// deadAfter is how many attempts in a row must have occupied their workers and failed before an endpoint is dead.
	deadAfter = 3
	// probation is for how long a receiver must not occupy a worker to be healthy again. Otherwise one that only answers at times
	// could occupy the workers that are left to the healthy ones, again and again.
	probation = 30 * time.Second
	// forgetAfter is how long the health of an endpoint without attempts is remembered.
	forgetAfter = time.Hour
)

// history is what is remembered of an endpoint.
type history struct {
	health health
	// failures counts the attempts since the last delivery that occupied their workers and failed.
	failures int
	// occupied is how many attempts in flight have taken longer than occupiedAfter.
	occupied int
	// lastAttempt is when an attempt last began or ended, lastOccupied when one last occupied its worker, and lastImpaired when the
	// endpoint was last slow or dead.
	lastAttempt, lastOccupied, lastImpaired time.Time
}

// runningAttempt is an attempt in flight.
type runningAttempt struct {
	schedule           *schedule
	of                 *history
	timer              *time.Timer
	occupied, finished bool
	// impaired is when the endpoint was last slow or dead: a change made before may have waited for its receiver.
	impaired time.Time
}

// startAttempt notes that an attempt begins. A receiver that does not answer is slow as soon as the attempt occupies its worker,
// not when it ends: until then all workers might be occupied.
func (s *schedule) startAttempt(e store.Endpoint) *runningAttempt {
	s.guard.Lock()
	defer s.guard.Unlock()
	of := s.known[e]
	if of == nil {
		of = &history{health: unknown}
		s.known[e] = of
	}
	of.touch()
	a := &runningAttempt{schedule: s, of: of, impaired: of.lastImpaired}
	a.timer = time.AfterFunc(s.occupiedAfter, a.occupy)
	return a
}

// touch notes the time of an attempt.
func (h *history) touch() {
	if h.lastAttempt = time.Now(); h.health >= slow {
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

// finish notes the result. A fast failure occupies no worker, so it says nothing of an endpoint that is slow or dead.
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
	switch {
	case delivered && !a.occupied && of.occupied == 0 && of.lastAttempt.Sub(of.lastOccupied) >= a.schedule.probation:
		of.health, of.failures = healthy, 0
	case delivered:
		of.health, of.failures = slow, 0
	case a.occupied:
		if of.failures++; of.failures >= deadAfter {
			of.health = dead
		}
	case of.health == unknown:
		of.health = healthy
	}
}

// healthOf returns the health of an endpoint.
func (s *schedule) healthOf(e store.Endpoint) health {
	if of := s.known[e]; of != nil {
		return of.health
	}
	return unknown
}

// forget removes the endpoints that have not been tried for long. The guard is held.
func (s *schedule) forget(now time.Time) {
	for e, of := range s.known {
		if s.inFlight[e] == 0 && now.Sub(of.lastAttempt) > forgetAfter {
			delete(s.known, e)
		}
	}
}

// impaired returns the endpoints that are slow or dead.
func (s *schedule) impaired() (list []store.Endpoint) {
	s.guard.Lock()
	defer s.guard.Unlock()
	for e, of := range s.known {
		if of.health >= slow {
			list = append(list, e)
		}
	}
	return list
}

// count returns how many endpoints of each health were tried lately.
func (s *schedule) count() (n [classes]int) {
	s.guard.Lock()
	defer s.guard.Unlock()
	s.forget(time.Now())
	for _, of := range s.known {
		n[of.health]++
	}
	return n
}
