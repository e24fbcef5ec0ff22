package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
)

func TestTheGapGrowsWithTheRateOfChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond int
		from, to  time.Duration
	}{
		{1, 3 * time.Millisecond, 3 * time.Millisecond},
		{200, 3 * time.Millisecond, 3 * time.Millisecond},
		{500, 9 * time.Millisecond, 10 * time.Millisecond},
		{1000, 12 * time.Millisecond, 12 * time.Millisecond},
		{100_000, 12 * time.Millisecond, 12 * time.Millisecond},
	} {
		gap := lastGap(&outbox.Pace{}, time.Unix(0, 0), c.perSecond, time.Second)
		require.GreaterOrEqual(t, gap, c.from, "%d a second", c.perSecond)
		require.LessOrEqual(t, gap, c.to, "%d a second", c.perSecond)
	}
}

func TestAFewChangesAtOnceDoNotMakeLaterOnesWait(t *testing.T) {
	t.Parallel()
	var p outbox.Pace
	require.Equal(t, 3*time.Millisecond, p.Next(time.Unix(0, 0), 20), "after a long pause")
	lastGap(&p, time.Unix(1, 0), 1000, time.Second)
	require.Equal(t, 3*time.Millisecond, p.Next(time.Unix(3, 0), 1), "a second after a high rate")
}

func TestAClockThatStandsStillOrGoesBackMakesNothingWaitLong(t *testing.T) {
	t.Parallel()
	var p outbox.Pace
	for _, at := range []int64{10, 10, 9} {
		gap := p.Next(time.Unix(at, 0), 1)
		require.GreaterOrEqual(t, gap, 3*time.Millisecond)
		require.LessOrEqual(t, gap, 12*time.Millisecond)
	}
}

// lastGap makes changes at a rate and returns the last gap.
func lastGap(p *outbox.Pace, from time.Time, perSecond int, during time.Duration) (gap time.Duration) {
	made := 0
	for at := from; at.Before(from.Add(during)); at = at.Add(max(gap, time.Second/time.Duration(perSecond))) {
		due := int(at.Sub(from).Seconds() * float64(perSecond))
		gap = p.Next(at, due-made)
		made = due
	}
	return gap
}
