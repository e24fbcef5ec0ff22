package rules

import "time"

// MaxAttempts is how often an event is sent to one key before its delivery has failed.
const MaxAttempts = 8

const (
	// maxJitter spreads retries that would fall on the same moment. It only ever adds.
	maxJitter = 0.1
	// FaultDelay is the pause after a fault of ours, which costs the receiver no attempt.
	FaultDelay = 30 * time.Second
	// faultGrace is how long such faults go on being free. A name whose own servers are broken
	// looks like a fault of our resolver; without an end its deliveries would be tried forever.
	faultGrace = 72 * time.Hour
)

// RetryDelay is the pause after the given number of attempts. random is in [0, 1). ok is false
// when there are no more attempts.
func RetryDelay(attempts int, random float64) (delay time.Duration, ok bool) {
	delays := [MaxAttempts - 1]time.Duration{
		time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	}
	if attempts < 1 || attempts > len(delays) {
		return 0, false
	}
	delay = delays[attempts-1]
	return delay + time.Duration(random*maxJitter*float64(delay)), true
}

// State of a delivery.
type State string

// The states of a delivery. All but Pending are final.
const (
	Pending   State = "PENDING"
	Delivered State = "DELIVERED"
	Failed    State = "FAILED"
	Dropped   State = "DROPPED"
)

// Progress is where a delivery stands.
type Progress struct {
	// Attempts made before the one that is being judged.
	Attempts int
	// Age is the time since the event was fanned out.
	Age time.Duration
}

// Verdict is what becomes of a delivery after an outcome.
type Verdict struct {
	State State
	// Counted says whether the outcome used up an attempt.
	Counted bool
	// Wait is the time until the next try; zero when the state is final.
	Wait time.Duration
}

// Judge decides what an outcome means for a delivery. random is in [0, 1).
func Judge(o Outcome, p Progress, random float64) Verdict {
	if o.Delivered() {
		return Verdict{State: Delivered, Counted: true}
	}
	if o.OurFault && p.Age < faultGrace {
		return Verdict{State: Pending, Wait: FaultDelay}
	}
	delay, more := RetryDelay(p.Attempts+1, random)
	if !more {
		return Verdict{State: Failed, Counted: true}
	}
	return Verdict{State: Pending, Counted: true, Wait: delay}
}
