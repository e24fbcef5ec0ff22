package relay

import (
	"time"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Source is a database with an outbox.
type Source struct {
	Name string
	// URL of a login with the role gifting_relay.
	URL string
}

// Deps are what a relay works with.
type Deps struct {
	Publisher Publisher
	Telemetry *telemetry.Telemetry
}

// Config of the relay. All fields but ClockSkew are required.
type Config struct {
	Sources []Source
	// LeaderURL is the database whose lock the leader holds.
	LeaderURL string
	// ClockSkew bounds how far the clocks of the sources' servers differ; zero on one server.
	ClockSkew time.Duration
	// PollInterval is how long an idle relay waits unless it is woken.
	PollInterval time.Duration
	// BatchInterval returns how long after the start of a batch of n rows the next one begins. After
	// an empty or a full batch it does not apply.
	BatchInterval func(n int) time.Duration
	// BatchSize is the most rows that a batch takes from each source.
	BatchSize int
}
