package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestNothingWaitsLongAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	const ahead = 3 * 24 * time.Hour
	f := setupWithoutTwins(t)
	// Each key has an event in the state that its name says.
	const fresh, tried, leased, paused = 1, 2, 3, 4
	f.addEvent(t, tenantA, noon, tried, leased)
	for _, d := range f.claim(t, noon.Add(ahead), 100, 1) {
		if d.KeyID == tried {
			require.NoError(t, f.record(t, d, retryIn1h, 500))
		}
	}
	f.addEvent(t, tenantA, noon.Add(2*time.Hour), fresh)
	f.addEvent(t, tenantA, noon, paused)
	f.now = noon.Add(ahead)
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, paused}}, 15*time.Second))
	require.Empty(t, f.claim(t, noon, 100, 1))

	for _, n := range []int{2, 1, 0} {
		ended, err := f.EndLongWaits(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, n, ended)
	}
	require.Len(t, f.claim(t, noon, 100, 1), 4)
}

func TestAWaitThatIsNotLongIsKept(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	const tried, untried, paused = 1, 2, 3
	f.addEvent(t, tenantA, noon, tried, untried)
	for _, d := range f.claim(t, noon, 2, 1) {
		verdict := rules.Verdict{State: rules.Pending, Wait: 30 * time.Second}
		if d.KeyID == tried {
			last, _ := rules.RetryDelay(rules.MaxAttempts-1, 1)
			verdict = rules.Verdict{State: rules.Pending, Counted: true, Wait: last}
		}
		require.NoError(t, f.record(t, d, verdict, 500))
	}
	f.addEvent(t, tenantA, noon, paused)
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, paused}}, 15*time.Second))
	ended, err := f.EndLongWaits(t.Context(), 10)
	require.NoError(t, err)
	require.Zero(t, ended)
	require.Empty(t, f.claim(t, noon.Add(10*time.Second), 10, 1))
}
