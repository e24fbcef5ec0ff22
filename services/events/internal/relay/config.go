package relay

import (
	"time"

	"github.com/partnergifting/platform/pkg/outbox"
)

// Source is a database with an outbox.
type Source struct {
	Name string
	// URL of a login with the role gifting_relay.
	URL string
}

// Config of the relay. Zero values are usable except for Sources.
type Config struct {
	Sources []Source
	// ClockSkew bounds how far the clocks of the sources' servers differ; zero on one server.
	ClockSkew time.Duration
	// PollInterval is how long an idle relay waits when nobody wakes it. Zero: 25 ms.
	PollInterval time.Duration
	// RoundInterval says how long after the start of a round that published n rows the next one begins; the first one
	// after a quiet time does not wait. Nil: outbox.Gap.
	RoundInterval func(n int) time.Duration
	// BatchSize is how many rows a round takes from each source at most. Zero: 500.
	BatchSize int
}

const (
	defaultPoll  = 25 * time.Millisecond
	defaultBatch = 500
)

func (c Config) withDefaults() Config {
	if c.PollInterval <= 0 {
		c.PollInterval = defaultPoll
	}
	if c.RoundInterval == nil {
		c.RoundInterval = outbox.Gap
	}
	if c.BatchSize <= 0 {
		c.BatchSize = defaultBatch
	}
	return c
}
