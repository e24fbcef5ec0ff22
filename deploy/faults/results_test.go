//go:build faults

package faults_test

import (
	"fmt"
	"sync"
	"time"
)

// check is one comparison with an invariant, and the time of what was compared. violation is empty if the invariant holds.
type check struct {
	of        invariant
	from, to  time.Time
	violation string
}

// results collects checks.
type results struct {
	lock   sync.Mutex
	checks []check
	// outcomes counts the answers to requests.
	outcomes map[string]int
}

func newResults() *results { return &results{outcomes: map[string]int{}} }

func (r *results) passed(of invariant, from, to time.Time) { r.check(of, from, to, "") }

func (r *results) failed(of invariant, from, to time.Time, format string, args ...any) {
	r.check(of, from, to, fmt.Sprintf(format, args...))
}

// check passes when violation is empty.
func (r *results) check(of invariant, from, to time.Time, violation string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.checks = append(r.checks, check{of, from, to, violation})
}

func (r *results) count(outcome string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.outcomes[outcome]++
}

// violations returns what was violated, by invariant.
func (r *results) violations() map[invariant][]string {
	r.lock.Lock()
	defer r.lock.Unlock()
	found := map[invariant][]string{}
	for _, c := range r.checks {
		if c.violation != "" {
			found[c.of] = append(found[c.of], c.from.Format("15:04:05.000")+" "+c.violation)
		}
	}
	return found
}
