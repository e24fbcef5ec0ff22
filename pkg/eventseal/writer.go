package eventseal

import "github.com/partnergifting/platform/pkg/seal"

// Writer seals members of new events. A nil writer leaves events as they are.
type Writer struct {
	ring *seal.Ring
}

// NewWriter makes a writer; nil if sealing is off.
func NewWriter(cfg Config) (*Writer, error) {
	ring, err := cfg.Keys.Parse()
	if err != nil {
		return nil, err
	}
	if cfg.Sealing == Off {
		return nil, nil //nolint:nilnil // A nil writer seals nothing.
	}
	return &Writer{ring: ring}, nil
}

// Seal returns the event's data with the member sealed. The data must be JSON without spaces between tokens, with the member as a
// string.
func (w *Writer) Seal(at Place, data []byte, m Member) ([]byte, error) {
	if w == nil {
		return data, nil
	}
	return sealMember(w.ring, at, data, m)
}
