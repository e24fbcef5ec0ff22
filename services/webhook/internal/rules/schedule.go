package rules

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// MaxAttempts is how often an event is sent to one key before its delivery has failed.
const MaxAttempts = 8

const (
	// maxJitter spreads retries that would happen at the same moment. It only lengthens delays.
	maxJitter = 0.1
	// internalDelay is the pause after a failure on our side, which does not count as an attempt.
	internalDelay = 30 * time.Second
	// internalGrace is how long such failures do not count. A name whose own name servers are broken looks like a failure of
	// our resolver; without this limit its deliveries would be tried forever.
	internalGrace = 72 * time.Hour
)

// RetryDelay is the pause after the given number of attempts. random is in [0, 1). ok is false if no attempt is left.
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

// Progress of a delivery.
type Progress struct {
	// Attempts before the one that is judged.
	Attempts int
	// Age is the time since the event was fanned out or last sent again, or since the end of the endpoint's last pause.
	Age time.Duration
}

// Verdict is the new state of a delivery after an outcome.
type Verdict struct {
	State State
	// Counted reports whether the outcome used up an attempt.
	Counted bool
	// Wait is the time until the next attempt; zero when the state is final.
	Wait time.Duration
}

// Judge returns the new state of a delivery after an outcome. random is in [0, 1).
func Judge(o Outcome, p Progress, random float64) Verdict {
	if o.Delivered() {
		return Verdict{State: Delivered, Counted: true}
	}
	if o.Internal && p.Age < internalGrace {
		return Verdict{State: Pending, Wait: internalDelay}
	}
	delay, more := RetryDelay(p.Attempts+1, random)
	if !more {
		return Verdict{State: Failed, Counted: true}
	}
	return Verdict{State: Pending, Counted: true, Wait: delay}
}

// Event ids are UUIDs of version 7: their first 48 bits are the milliseconds of the change.

// FirstEventAt is the lowest id that an event of this millisecond can have.
func FirstEventAt(at time.Time) string {
	var id uuid.UUID
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(id[:6], ms[2:])
	return id.String()
}

// EventAt is the millisecond of the event's change; zero for an id of another version.
func EventAt(eventID string) time.Time {
	id, err := uuid.Parse(eventID)
	if err != nil || id.Version() != timeOrdered {
		return time.Time{}
	}
	var ms [8]byte
	copy(ms[2:], id[:6])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))) //nolint:gosec // Six bytes fit.
}

// timeOrdered is the version of UUID that begins with a time.
const timeOrdered = 7

// EventAfter is the next higher id.
func EventAfter(eventID string) string {
	id := uuid.MustParse(eventID)
	for i := len(id) - 1; i >= 0; i-- {
		id[i]++
		if id[i] != 0 {
			break
		}
	}
	return id.String()
}
