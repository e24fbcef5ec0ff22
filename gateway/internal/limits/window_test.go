package limits

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAWindowForgetsTheSubjectSeenLongestAgo(t *testing.T) {
	t.Parallel()
	w := NewWindow(Policy{Limit: 1, Window: time.Hour}, time.Now)
	for n := range maxSubjects {
		require.True(t, w.Take(strconv.Itoa(n)).Allowed)
	}
	require.False(t, w.Take("0").Allowed, "which is thereby seen again")
	require.True(t, w.Take("new").Allowed)
	require.False(t, w.Take("0").Allowed)
	require.False(t, w.Take("2").Allowed)
	require.True(t, w.Take("1").Allowed, "it was dropped")
}

func TestAWindowInThisProcess(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	w := NewWindow(Policy{Limit: 2, Window: time.Minute}, func() time.Time { return now })
	require.True(t, w.Take("a").Allowed)
	now = now.Add(30 * time.Second)
	require.True(t, w.Take("a").Allowed)
	refused := w.Take("a")
	require.False(t, refused.Allowed)
	require.Equal(t, 30*time.Second, refused.Reset)
	_, exhausted := w.Exhausted("a")
	require.True(t, exhausted)
	now = now.Add(30 * time.Second)
	require.True(t, w.Take("a").Allowed, "the first has left the window")
	require.False(t, w.Take("a").Allowed)
}
