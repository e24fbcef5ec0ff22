//go:build faults

package faults_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// check is the result of checking an invariant, with the time of the checked change. violation is empty if the invariant holds.
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
	// setBack are the ids of records that a restored database has lost or has in an earlier state.
	setBack map[string]bool
	// longCalls are those that wanted to wait for an event.
	longCalls []longCall
	// movesOnly means that tenants move and nothing fails: every request is answered, and no read is refused.
	movesOnly bool
	// longestWait is how long a change was repeated at most until it was answered.
	longestWait time.Duration
}

func newResults() *results { return &results{outcomes: map[string]int{}, setBack: map[string]bool{}} }

// excuse notes records whose changes the RPO allows to lose: the checks require nothing of these changes but that they were lost.
func (r *results) excuse(ids ...string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, id := range ids {
		r.setBack[id] = true
	}
}

func (r *results) excused(e eventName) bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.setBack[e.record()]
}

func (r *results) passed(of invariant, from, to time.Time) { r.check(of, from, to, "") }

func (r *results) failed(of invariant, from, to time.Time, format string, args ...any) {
	r.check(of, from, to, fmt.Sprintf(format, args...))
}

// require records a check, which fails unless ok.
func (r *results) require(ok bool, of invariant, from, to time.Time, format string, args ...any) {
	if ok {
		r.passed(of, from, to)
	} else {
		r.failed(of, from, to, format, args...)
	}
}

// check records a check, which passes if violation is empty.
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

// violations returns the violations by invariant.
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

// aftermath is how long a fault counts as active after its end.
const aftermath = 2 * time.Second

// injected is a fault that was injected.
type injected struct {
	kind     string
	from, to time.Time
}

// cell counts the checks whose time overlaps a fault.
type cell struct{ checks, failed int }

func (c *cell) add(one check) {
	c.checks++
	if one.violation != "" {
		c.failed++
	}
}

func (c cell) String() string {
	switch {
	case c.checks == 0:
		return "-"
	case c.failed > 0:
		return fmt.Sprintf("BROKEN %d/%d", c.failed, c.checks)
	default:
		return strconv.Itoa(c.checks)
	}
}

// table counts the checks of each invariant that overlap each kind of fault, and how many of them failed. Checks without a
// fault have a row of their own.
func table(faults []injected, checks []check) string {
	byKind := map[string][]injected{}
	for _, f := range faults {
		f.to = f.to.Add(aftermath)
		byKind[f.kind] = append(byKind[f.kind], f)
	}
	cells := map[string]*[invariants]cell{}
	count := func(kind string, c check) {
		if cells[kind] == nil {
			cells[kind] = &[invariants]cell{}
		}
		cells[kind][c.of].add(c)
	}
	for _, c := range checks {
		overlaps := false
		for kind, of := range byKind {
			if slices.ContainsFunc(of, func(f injected) bool { return !c.from.After(f.to) && !c.to.Before(f.from) }) {
				count(kind, c)
				overlaps = true
			}
		}
		if !overlaps {
			count("(none)", c)
		}
		count("all", c)
	}
	var rows []row
	for _, kind := range append(slices.Sorted(maps.Keys(byKind)), "(none)", "all") {
		r := row{label: fmt.Sprintf("%s\t%d", kind, len(byKind[kind]))}
		if cells[kind] != nil {
			r.cells = *cells[kind]
		}
		rows = append(rows, r)
	}
	return formatTable("fault\ttimes", rows)
}

// row of a table has a cell for each invariant.
type row struct {
	label string
	cells [invariants]cell
}

func formatTable(header string, rows []row) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := header + "\t"
	for i := range invariants {
		line += i.String() + "\t"
	}
	_, _ = fmt.Fprintln(w, line) // Writing to a builder does not fail.
	for _, r := range rows {
		line := r.label + "\t"
		for _, c := range r.cells {
			line += c.String() + "\t"
		}
		_, _ = fmt.Fprintln(w, line)
	}
	_ = w.Flush()
	return text.String()
}
