package relay

import (
	"slices"
	"time"
)

// window is where the reads of a source begin. It lets a read skip the rows that were published and deleted: under an old
// snapshot their index entries remain, and walking hundreds of thousands of them takes a second.
//
// Every id up to low was published, belongs to no row, or is in a gap. Ids are not committed in their order, so an id in a gap may
// still become visible. It belongs to no row once every transaction that ran when the gap was found has ended.
type window struct {
	low  int64
	gaps []gap // ascending
	// lastRead is the highest id of the last read. These rows were inserted before the next batch reads the clock.
	lastRead int64
	// published is a time of the source's clock up to which the visible rows were published. It only bounds what readUnread looks at.
	published time.Time
	// lastTick is that of the last read.
	lastTick tick
	// formerClocks are the source's clocks before each step, and those of the servers before this one, as long as rows that they
	// dated may be left.
	formerClocks []formerClock
}

// gap is a range of ids that were not visible when a later id was published.
type gap struct {
	first, last int64
	// closedBy is a transaction that began after the gap was found; zero before there is one. Once all transactions before it have
	// ended, a read sees every row of the gap that there will ever be.
	closedBy int64
}

// hasOpenGap reports whether a gap waits for a transaction that began after it.
func (w *window) hasOpenGap() bool {
	return slices.ContainsFunc(w.gaps, func(g gap) bool { return g.closedBy == 0 })
}

// closeGapsAt records a transaction that began after all gaps were found.
func (w *window) closeGapsAt(transaction int64) {
	for i := range w.gaps {
		if w.gaps[i].closedBy == 0 {
			w.gaps[i].closedBy = transaction
		}
	}
}

func (w *window) publishedUpTo(t time.Time) {
	if t.After(w.published) {
		w.published = t
	}
}

// noteRead notes the rows of a read.
func (w *window) noteRead(rows []row) {
	if len(rows) > 0 {
		w.lastRead = max(w.lastRead, rows[len(rows)-1].id)
	}
}

// advance moves the window past the first n rows of a read, which are published.
func (w *window) advance(r reading, n int) {
	rows := r.rows
	w.noteRead(rows)
	if !r.full && n == len(rows) {
		// A row of an older clock is either published or will never be visible.
		w.formerClocks = slices.DeleteFunc(w.formerClocks, func(f formerClock) bool {
			return r.answered.Sub(f.last.answered) > longestTransaction
		})
	}
	var gaps []gap
	at := 0
	for _, g := range w.gaps {
		first := at
		for at < len(rows) && rows[at].id <= g.last {
			at++
		}
		// A full read has not looked for all rows of the gaps after its last row.
		closed := g.closedBy != 0 && r.oldest >= g.closedBy && (!r.full || at < len(rows))
		gaps = append(gaps, g.remaining(rows[first:at], n-first, closed)...)
	}
	if len(rows) == 0 && r.newest > w.low {
		gaps = append(gaps, gap{first: w.low + 1, last: r.newest})
		w.low = r.newest
	}
	for ; at < n; at++ {
		id := rows[at].id
		if id > w.low+1 {
			gaps = append(gaps, gap{first: w.low + 1, last: id - 1})
		}
		w.low = id
	}
	w.gaps = gaps
}

// remaining returns what is left of the gap after a read found rows in it, of which the first n are published. If the gap is
// closed, the ids without a row are not looked for again.
func (g gap) remaining(found []row, n int, closed bool) []gap {
	var left []gap
	next := g.first
	for i, r := range found {
		if !closed && r.id > next {
			left = append(left, gap{next, r.id - 1, g.closedBy})
		}
		if i >= n {
			left = append(left, gap{r.id, r.id, g.closedBy})
		}
		next = r.id + 1
	}
	if !closed && next <= g.last {
		left = append(left, gap{next, g.last, g.closedBy})
	}
	return left
}

// ranges returns the ends of the gaps.
func (w *window) ranges() (first, last []int64) {
	first, last = make([]int64, len(w.gaps)), make([]int64, len(w.gaps))
	for i, g := range w.gaps {
		first[i], last[i] = g.first, g.last
	}
	return first, last
}
