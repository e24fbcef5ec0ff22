//go:build faults

package faults_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// aftermath is how long after its end a fault still counts as being around.
const aftermath = 2 * time.Second

// done is a fault that was there.
type done struct {
	kind     string
	from, to time.Time
}

// cell counts the checks that were under way while a fault was around.
type cell struct{ checks, wrong int }

func (c cell) String() string {
	switch {
	case c.checks == 0:
		return "-"
	case c.wrong > 0:
		return fmt.Sprintf("BROKEN %d/%d", c.wrong, c.checks)
	default:
		return strconv.Itoa(c.checks)
	}
}

// table holds faults against invariants: how many checks met each kind of fault, and how many of those found something
// wrong. What was met by no fault at all stands in a row of its own.
func table(faults []done, checks []check) string {
	spans := map[string][]done{}
	for _, f := range faults {
		f.to = f.to.Add(aftermath)
		spans[f.kind] = append(spans[f.kind], f)
	}
	cells := map[string]*[invariants]cell{}
	mark := func(kind string, c check) {
		if cells[kind] == nil {
			cells[kind] = &[invariants]cell{}
		}
		cells[kind][c.of].checks++
		if c.wrong != "" {
			cells[kind][c.of].wrong++
		}
	}
	for _, c := range checks {
		met := false
		for kind, of := range spans {
			if slices.ContainsFunc(of, func(f done) bool { return !c.from.After(f.to) && !c.to.Before(f.from) }) {
				mark(kind, c)
				met = true
			}
		}
		if !met {
			mark("(none)", c)
		}
		mark("all", c)
	}
	return written(spans, cells)
}

func written(spans map[string][]done, cells map[string]*[invariants]cell) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := "fault\ttimes\t"
	for i := range invariants {
		header += i.String() + "\t"
	}
	_, _ = fmt.Fprintln(w, header) // A builder takes everything.
	for _, kind := range append(slices.Sorted(maps.Keys(spans)), "(none)", "all") {
		line := fmt.Sprintf("%s\t%d\t", kind, len(spans[kind]))
		row := cells[kind]
		if row == nil {
			row = &[invariants]cell{}
		}
		for _, c := range row {
			line += c.String() + "\t"
		}
		_, _ = fmt.Fprintln(w, line)
	}
	_ = w.Flush()
	return text.String()
}
