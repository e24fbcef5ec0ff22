package eventseal

import "github.com/partnergifting/platform/pkg/seal"

// Writer seals members of new events.
type Writer struct {
	ring *seal.Ring
}

// NewWriter makes a writer that seals with the first key of the ring.
func NewWriter(ring *seal.Ring) *Writer { return &Writer{ring: ring} }

// Seal returns the event's data with the member sealed. The data must be JSON without spaces between tokens, with the member as a
// string.
func (w *Writer) Seal(at Place, data []byte, m Member) ([]byte, error) {
	return sealMember(w.ring, at, data, m)
}
