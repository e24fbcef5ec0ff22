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
	// slow receivers hold workers, but may answer.
	slow
	// dead receivers have only held workers lately. One attempt at a time shows whether that is still so.
	dead

	classes
)

var healthNames = [classes]string{healthy: "healthy", unknown: "unknown", slow: "slow", dead: "dead"}

const (
	// holdAfter is how long an attempt may take before it is said to hold its worker.
	holdAfter = time.Second
	// deadAfter is how many attempts in a row must have held their workers and failed before an endpoint is dead.
	deadAfter = 3
	// probation is for how long a receiver must not hold a worker to be healthy again. Otherwise one that only answers at times could
	// hold the workers that are left to the healthy ones, again and again.
	probation = 30 * time.Second
	// forgetAfter is how long the health of an endpoint without attempts is remembered.
	forgetAfter = time.Hour
)

// history is what is remembered of an endpoint.
type history struct {
	health health
	// failures counts the attempts since the last delivery that held their workers and failed.
	failures int
	// holding counts the attempts in flight that have held their workers for longer than holdAfter.
	holding int
	// tried is when the last attempt began or ended, held when one last held its worker, and impaired when the endpoint was last
	// slow or dead.
	tried, held, impaired time.Time
}

// trial is an attempt in flight.
type trial struct {
	schedule    *schedule
	of          *history
	timer       *time.Timer
	held, ended bool
	// impaired is when the endpoint was last slow or dead: a change made before may have waited for its receiver.
	impaired time.Time
}

// attempting notes that an attempt begins. A receiver that does not answer is slow as soon as the attempt holds its worker, not
// when it ends: until then all workers might be held.
func (s *schedule) attempting(e store.Endpoint) *trial {
	s.guard.Lock()
	defer s.guard.Unlock()
	of := s.known[e]
	if of == nil {
		of = &history{health: unknown}
		s.known[e] = of
	}
	of.touch()
	t := &trial{schedule: s, of: of, impaired: of.impaired}
	t.timer = time.AfterFunc(s.holdAfter, t.holds)
	return t
}

// touch notes the time of an attempt.
func (h *history) touch() {
	if h.tried = time.Now(); h.health >= slow {
		h.impaired = h.tried
	}
}

// holds notes that the attempt has held its worker for long.
func (t *trial) holds() {
	t.schedule.guard.Lock()
	defer t.schedule.guard.Unlock()
	if t.ended {
		return
	}
	t.held, t.of.held = true, time.Now()
	t.of.holding++
	t.of.health = max(t.of.health, slow)
}

// end notes the result. A quick failure holds nobody, so it says nothing of an endpoint that is slow or dead.
func (t *trial) end(delivered bool) {
	t.schedule.guard.Lock()
	defer t.schedule.guard.Unlock()
	t.timer.Stop()
	t.ended = true
	of := t.of
	of.touch()
	if t.held {
		of.holding--
		of.held = of.tried
	}
	switch {
	case delivered && !t.held && of.holding == 0 && of.tried.Sub(of.held) >= t.schedule.probation:
		of.health, of.failures = healthy, 0
	case delivered:
		of.health, of.failures = slow, 0
	case t.held:
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
		if s.inFlight[e] == 0 && now.Sub(of.tried) > forgetAfter {
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
