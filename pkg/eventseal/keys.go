package eventseal

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
)

// Keys is the setting of programs that open events.
type Keys struct {
	Ring string `env:"EVENT_KEYS,required" secret:"true" doc:"Key ring of the sealed members of events, claim URLs and texts of messages: id:base64-of-32-bytes, separated by commas; the first is used for new events. Must be the same in orders, personal-links, events and webhook, except while it is rotated."`
}

// Validate implements the check of package settings.
func (k Keys) Validate() error {
	_, err := seal.ParseRing(k.Ring)
	return settings.Invalid("EVENT_KEYS", err)
}

// Parse returns the ring.
func (k Keys) Parse() (*seal.Ring, error) {
	ring, err := seal.ParseRing(k.Ring)
	if err != nil {
		return nil, fmt.Errorf("event keys: %w", err)
	}
	return ring, nil
}
