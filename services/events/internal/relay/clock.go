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

// formerClock is the clock of a source before it stepped, or that of the server before this one.
type formerClock struct {
	// offset is how far it was ahead of the relay's.
	offset time.Duration
	// last is its last reading; zero if that may have been after the step.
	last tick
}

// relayTime returns when a row was recorded, by the relay's clock, if this clock has dated it.
func (f formerClock) relayTime(of row) time.Time { return of.recordedAt.Add(-f.offset) }

// hasDated reports whether the id of a row was handed out before the last reading of this clock. A server that lost transactions
// hands out ids again. The time shows that such a row is none of this clock's, unless the next clock is behind by more than the
// time between.
func (f formerClock) hasDated(of row) bool {
	return of.id <= f.last.newest && !f.relayTime(of).After(f.last.answered)
}

// addFormerClock notes how far the clock was ahead before a step. found is the reading that found the step. If the last reading
// alone does not contradict it, as when that took long, it may have been after the step.
func (w *window) addFormerClock(offset time.Duration, found tick) {
	former := formerClock{offset: offset}
	var last clockOffset
	last.observe(w.lastTick.asked, w.lastTick.answered, w.lastTick.clock)
	if last.observe(found.asked, found.answered, found.clock) {
		former.last = w.lastTick
	}
	w.formerClocks = append(w.formerClocks, former)
}
