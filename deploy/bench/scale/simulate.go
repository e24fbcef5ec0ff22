package scale

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Relay is what the simulation knows of the relay: one at work, in rounds that take a part that is always the same and
// one for each change.
type Relay struct {
	// Pause is how long after the start of a round that took n changes the next one begins, unless that was full.
	Pause            func(n int) time.Duration
	Round, PerChange time.Duration
	// Most is how many changes a round takes.
	Most int
}

// Ages lets changes come at random at a rate for a time, as open a loop as life, and gives how old each was when the
// relay had sent it, sorted.
func (r Relay) Ages(random *rand.Rand, perSecond float64, during time.Duration) []time.Duration {
	var arrivals, ages []time.Duration
	for at := time.Duration(0); at < during; {
		at += time.Duration(random.ExpFloat64() / perSecond * float64(time.Second))
		arrivals = append(arrivals, at)
	}
	var now, next time.Duration
	for len(arrivals) > 0 {
		// Woken by the first change, but not before its pause is over.
		now = max(now, arrivals[0], next)
		taken, _ := slices.BinarySearch(arrivals, now+1)
		taken = min(taken, r.Most)
		if taken < r.Most {
			next = now + r.Pause(taken)
		}
		now += r.Round + time.Duration(taken)*r.PerChange
		for _, arrived := range arrivals[:taken] {
			ages = append(ages, now-arrived)
		}
		arrivals = arrivals[taken:]
	}
	slices.Sort(ages)
	return ages
}

// At gives the age that a part of the changes stays below.
func At(ages []time.Duration, quantile float64) time.Duration {
	return ages[int(quantile*float64(len(ages)-1))]
}
