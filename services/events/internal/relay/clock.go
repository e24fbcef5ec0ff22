package relay

import "time"

// clock is the relay's own time: that of its host when the clock was started, and from then on without steps.
type clock struct {
	started time.Time // For the time since then, which no step changes.
	at      time.Time
}

func startClock() clock {
	now := time.Now()
	return clock{started: now, at: now.Round(0)}
}

func (c clock) now() time.Time { return c.at.Add(time.Since(c.started)) }

// hostStep is from when on a step of the host's clock counts.
const hostStep = time.Second

// hostStepped reports whether the host's clock was set since the clock was started.
func (c clock) hostStepped() bool { return time.Now().Round(0).Sub(c.now()).Abs() >= hostStep }

// maxDrift bounds how fast a server's clock and the relay's drift apart, adjustments of a time service included.
const maxDrift = 0.001

// clockOffset bounds how far the clock of a server is ahead of the relay's. Each reading of the server's clock gives a bound: it
// was taken between the question and the answer. The bounds of all readings together are tighter than those of any one.
type clockOffset struct {
	low, high time.Duration
	at        time.Time
}

// observe adds a reading of the server's clock. If it contradicts the earlier ones, the clock has stepped, and they are dropped.
func (o *clockOffset) observe(asked, answered, reading time.Time) (stepped bool) {
	low, high := reading.Sub(answered), reading.Sub(asked)
	if !o.at.IsZero() {
		drift := time.Duration(float64(answered.Sub(o.at)) * maxDrift)
		if l, h := max(low, o.low-drift), min(high, o.high+drift); l <= h {
			low, high = l, h
		} else {
			stepped = true
		}
	}
	o.low, o.high, o.at = low, high, answered
	return stepped
}

// value is the best estimate.
func (o *clockOffset) value() time.Duration { return (o.low + o.high) / 2 } //nolint:mnd // The middle of the bounds.

// uncertainty is how far the estimate may be from the true value.
func (o *clockOffset) uncertainty() time.Duration { return (o.high - o.low) / 2 } //nolint:mnd // Half of the bounds.
