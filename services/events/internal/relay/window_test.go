package relay

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// outboxModel is an outbox whose transactions commit in any order.
type outboxModel struct {
	lastID, lastTransaction int64
	// running maps each transaction that has not ended to its row.
	running map[int64]int64
	visible map[int64]bool
}

// oldest is the oldest running transaction, or the next one if none runs.
func (o *outboxModel) oldest() int64 {
	oldest := o.lastTransaction + 1
	for transaction := range o.running {
		oldest = min(oldest, transaction)
	}
	return oldest
}

func (o *outboxModel) insert() {
	o.lastTransaction++
	o.lastID++
	o.running[o.lastTransaction] = o.lastID
}

// end commits or aborts a random transaction.
func (o *outboxModel) end(commit bool) {
	for transaction, id := range o.running {
		delete(o.running, transaction)
		if commit {
			o.visible[id] = true
		}
		return
	}
}

// read returns the visible rows that are in a gap or after the window, as the relay's query of the outbox does.
func (o *outboxModel) read(w *window, limit int) []row {
	first, last := w.ranges()
	var rows []row
	for id := range o.visible {
		wanted := id > w.low
		for gap := range first {
			wanted = wanted || first[gap] <= id && id <= last[gap]
		}
		if wanted {
			rows = append(rows, row{id: id})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return rows[:min(len(rows), limit)]
}

// TestAWindowLosesAndRepeatsNothing runs random transactions, and batches that publish only some of the rows they read. Published
// rows remain visible, as if none of them was ever confirmed.
func TestAWindowLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			o := &outboxModel{running: map[int64]int64{}, visible: map[int64]bool{}}
			published := map[int64]bool{}
			var w window
			batch := func(limit int, publishAll bool) {
				oldest, newest := o.oldest(), o.lastID
				if w.hasOpenGap() {
					o.lastTransaction++ // A transaction without a row, which begins after the gap.
					w.closeGapsAt(o.lastTransaction)
				}
				for range random.IntN(3) { // Transactions may end after oldest is known and before the rows are read.
					o.end(random.IntN(4) > 0)
				}
				rows := o.read(&w, limit)
				n := len(rows)
				if !publishAll {
					n = random.IntN(n + 1)
				}
				for _, r := range rows[:n] {
					require.False(t, published[r.id], "row %d is published again", r.id)
					published[r.id] = true
				}
				w.advance(reading{rows: rows, full: len(rows) == limit, tick: tick{oldest: oldest, newest: newest}}, n)
			}
			for range 200 {
				switch random.IntN(3) {
				case 0:
					o.insert()
				case 1:
					o.end(random.IntN(4) > 0)
				default:
					batch(1+random.IntN(5), random.IntN(3) > 0)
				}
			}
			for len(o.running) > 0 {
				o.end(true)
			}
			for range 300 {
				batch(3, true)
			}
			require.Len(t, published, len(o.visible), "every committed row is published")
			require.Empty(t, w.gaps, "ids without a row are not looked for any more")
		})
	}
}
