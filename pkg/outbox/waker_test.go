package outbox

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheGapGrowsWithTheChangesFromAThousandASecondOn(t *testing.T) {
	t.Parallel()
	for changes, want := range map[int]time.Duration{
		0: 3 * time.Millisecond, 1: 3 * time.Millisecond, 3: 3 * time.Millisecond, 4: 4 * time.Millisecond,
		11: 11 * time.Millisecond, 12: 12 * time.Millisecond, 13: 12 * time.Millisecond, math.MaxInt: 12 * time.Millisecond,
	} {
		require.Equal(t, want, PollDelay(changes), "%d changes", changes)
	}
}
