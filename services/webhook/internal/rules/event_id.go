package rules

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

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
