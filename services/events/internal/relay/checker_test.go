package relay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// change is an event for the checker. It is the event's data.
type change struct {
	ID string `json:"id"`
	// The n-th change of a record has version n.
	Subject string `json:"subject"`
	Version int    `json:"version"`
	// After are changes that were committed before this one began.
	After []string `json:"after"`
}

// violations lists the errors in a published sequence. Of each event only the first appearance counts,
// as for a reader that drops duplicates. all are the ids that were committed.
func violations(published []change, all []string) []string {
	var wrong []string
	at := map[string]int{}
	versions := map[string]int{}
	for _, c := range published {
		if _, again := at[c.ID]; again {
			continue
		}
		at[c.ID] = len(at)
		versions[c.Subject]++
		if versions[c.Subject] != c.Version {
			wrong = append(wrong, fmt.Sprintf("version %d of %s is its change number %d", c.Version, c.Subject, versions[c.Subject]))
		}
		for _, before := range c.After {
			if _, seen := at[before]; !seen {
				wrong = append(wrong, fmt.Sprintf("%s was answered before %s was requested, but is published after it", before, c.ID))
			}
		}
	}
	for _, id := range all {
		if _, seen := at[id]; !seen {
			wrong = append(wrong, "lost "+id)
		}
	}
	return wrong
}

func TestTheCheckerFindsEachViolation(t *testing.T) {
	t.Parallel()
	a1 := change{ID: "a1", Subject: "a", Version: 1}
	a2 := change{ID: "a2", Subject: "a", Version: 2}
	b1 := change{ID: "b1", Subject: "b", Version: 1, After: []string{"a1"}}
	all := []string{"a1", "a2", "b1"}
	for name, test := range map[string]struct {
		published []change
		wrong     int
	}{
		"in order":                           {[]change{a1, b1, a2}, 0},
		"with duplicates":                    {[]change{a1, a1, b1, a1, a2, b1}, 0},
		"versions of a record inverted":      {[]change{a2, a1, b1}, 2},
		"cause after effect":                 {[]change{b1, a1, a2}, 1},
		"cause repeated before and too late": {[]change{b1, a1, b1, a2}, 1},
		"one lost":                           {[]change{a1, b1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Len(t, violations(test.published, all), test.wrong)
		})
	}
}
