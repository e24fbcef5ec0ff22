package rules

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"
)

// Event ids are UUIDs of version 7: their first 48 bits are the milliseconds of the change.

// FirstEventAt is a bound of event ids: no event of an earlier millisecond is at or above it, and
// none of this one or a later is below.
func FirstEventAt(at time.Time) string {
	var id uuid.UUID
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(id[:6], ms[2:])
	return id.String()
}

// EventAfter is the smallest id above an event's.
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
