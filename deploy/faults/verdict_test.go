//go:build faults

package faults_test

import (
	"fmt"
	"sync"
	"time"
)

// invariant is a promise that no fault may break.
type invariant int

const (
	// effect: a request has one effect and one answer for each Idempotency-Key, and what was answered is there.
	effect invariant = iota
	// lost, twice, order: each committed change stands in the feed once, and in causal order.
	lost
	twice
	order
	// delivery: each event reaches every receiver it is for.
	delivery
	// stock: what is left and what orders hold add up, and no unit is sold twice at any time.
	stock
	// leak: nobody sees what is another tenant's, another brand's, or personal.
	leak
	// answers: each answer is right, or says that there is none now and when to ask again: 503, 409 or 429.
	answers
	invariants
)

func (i invariant) String() string {
	return [invariants]string{"effect", "lost", "twice", "order", "delivery", "stock", "leak", "answers"}[i]
}

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
