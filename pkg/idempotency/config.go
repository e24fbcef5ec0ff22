package idempotency

import "time"

// Config of a service that stores answers.
type Config struct {
	Retention time.Duration `env:"IDEMPOTENCY_RETENTION" envDefault:"720h" check:"min=24h" doc:"How long the answer to a POST is kept."`
}
