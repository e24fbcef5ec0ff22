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

// Config are the settings of programs that write events.
type Config struct {
	Keys    Keys
	Sealing Sealing `env:"EVENT_SEALING" envDefault:"on" check:"oneof=off|on" doc:"Whether claim URLs and texts of messages are sealed in new events, and texts of messages in the database of orders. To upgrade from a version that cannot open them, set it to off until orders, events and webhook are upgraded. Then re-encrypt of orders seals the older texts."`
}

// Sealing says whether new events are sealed.
type Sealing string

// On and off.
const (
	On  Sealing = "on"
	Off Sealing = "off"
)
