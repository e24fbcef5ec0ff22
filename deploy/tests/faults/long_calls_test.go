//go:build faults

package faults_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longCall is a call that wanted to wait for an event, until its answer or error.
type longCall struct {
	from, to time.Time
	wait     time.Duration
}

// waitMargin is how much longer than its wait a call may take without a fault. A fault may delay it by its own length.
const waitMargin = 5 * time.Second

// excess is how much longer the call took than it may.
func (h longCall) excess(faults []injected) time.Duration {
	var delay time.Duration
	for _, f := range faults {
		// Reads of the feed need no Kafka, whose outage is longer than any wait.
		if ofKafka := strings.HasSuffix(f.kind, "Kafka"); !ofKafka && !h.from.After(f.to.Add(aftermath)) && !h.to.Before(f.from) {
			delay = max(delay, f.to.Sub(f.from)+aftermath)
		}
	}
	return h.to.Sub(h.from) - h.wait - waitMargin - delay
}

func (r *results) addLongCall(c longCall) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.longCalls = append(r.longCalls, c)
}

// checkLongCalls requires that no call was held for longer than it wanted to wait.
func (f *fixture) checkLongCalls(t *testing.T, faults []injected, printf func(format string, args ...any)) {
	t.Helper()
	f.lock.Lock()
	all := f.longCalls
	f.lock.Unlock()
	var longest time.Duration
	ended := 0
	for _, h := range all {
		over := h.excess(faults)
		f.require(over <= 0, answers, h.from, h.to, "a call with a wait of %s was held %s, %s too long", h.wait, h.to.Sub(h.from), over)
		if longest = max(longest, h.to.Sub(h.from)); h.to.Sub(h.from) >= h.wait {
			ended++
		}
	}
	printf("%d calls waited for events, %d of them in vain or longer; the longest took %s", len(all), ended, longest)
	require.NotZero(t, ended, "no call was held")
}
