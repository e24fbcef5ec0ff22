//go:build faults

package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// bugVariable names the bug that programs plant that were built with plantedTag.
	bugVariable = "PLANTED_BUG"
	plantedTag  = "planted"
	// plantedTime is enough to notice a bug without any other fault.
	plantedTime = 25 * time.Second
)

// TestPlantedBugsAreFound proves the checks: they find nothing wrong with programs that merely read slowly, and find out
// each bug that is planted.
func TestPlantedBugsAreFound(t *testing.T) {
	binaries := buildPrograms(t, "", plantedTag)
	for _, row := range []struct {
		bug    string
		breaks invariant
	}{
		{"slow", invariants},
		{"uncut", order},
		{"lose", lost},
		{"again", twice},
		{"twice", effect},
		{"stale", answers},
		{"oversell", stock},
		{"unsent", delivery},
		{"foreign", leak},
		{"personal", leak},
	} {
		t.Run(row.bug, func(t *testing.T) {
			r := newRecord(t, 1)
			s := newSite(t, plan{binaries: binaries, bug: row.bug, slowCommits: true, logs: r.dir})
			c := newScene(t, s, time.Now().UnixNano(), 0)
			c.use(t, plantedTime, func(ctx context.Context) { <-ctx.Done() })
			c.judge(t, patience{feed: 15 * time.Second, arrive: 2 * time.Minute, stock: time.Minute}, r.say)
			r.verdict(c.verdict, nil)
			if row.breaks == invariants {
				require.Empty(t, c.wrong())
				return
			}
			require.NotEmpty(t, c.wrong()[row.breaks], "%s is not found", row.bug)
		})
	}
}
