//go:build faults

package faults_test

import (
	"fmt"
	"sync"
	"time"
)

// check is one thing that was held against an invariant, and when it was under way. wrong is empty if it was kept.
type check struct {
	of       invariant
	from, to time.Time
	wrong    string
}

// verdict collects checks.
type verdict struct {
	lock   sync.Mutex
	checks []check
	// outcomes counts what requests came to.
	outcomes map[string]int
}

func newVerdict() *verdict { return &verdict{outcomes: map[string]int{}} }

func (v *verdict) kept(of invariant, from, to time.Time) { v.add(check{of: of, from: from, to: to}) }

func (v *verdict) broken(of invariant, from, to time.Time, format string, args ...any) {
	v.add(check{of: of, from: from, to: to, wrong: fmt.Sprintf(format, args...)})
}

// hold counts the check as kept when wrong is empty.
func (v *verdict) hold(of invariant, from, to time.Time, wrong string) {
	v.add(check{of: of, from: from, to: to, wrong: wrong})
}

func (v *verdict) add(c check) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.checks = append(v.checks, c)
}

func (v *verdict) count(outcome string) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.outcomes[outcome]++
}

// wrong gives what was broken, by invariant.
func (v *verdict) wrong() map[invariant][]string {
	v.lock.Lock()
	defer v.lock.Unlock()
	found := map[invariant][]string{}
	for _, c := range v.checks {
		if c.wrong != "" {
			found[c.of] = append(found[c.of], c.from.Format("15:04:05.000")+" "+c.wrong)
		}
	}
	return found
}
