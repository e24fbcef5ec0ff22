package webhook

import (
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Cell      identity.Cell
	Database  postgres.Config
	Telemetry telemetry.Config
	Kafka     kafka.Config `envPrefix:"KAFKA_"`
	EventKeys seal.EventKeys

	Environment apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; every event names it."`
	TenantsAddr string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a DNS name of all instances, or their addresses."`
	EventsAddr  string             `env:"EVENTS_ADDR" check:"hostports" doc:"The events service: a DNS name of all instances, or their addresses. Only the command redrive needs it."`

	RedisURL string `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"Redis that says which tenants have changed, such as redis://host:6379; empty: settings are looked up at the tenants service for every change."`

	KafkaTopic string `env:"KAFKA_TOPIC" envDefault:"gifting.changes.v1" doc:"Topic of all changes."`
	KafkaGroup string `env:"KAFKA_WEBHOOK_GROUP" envDefault:"gifting-webhook" doc:"Consumer group under which the offsets of the webhook service are committed in Kafka."`

	AllowLoopback bool `env:"ALLOW_LOOPBACK_WEBHOOKS" doc:"Allow webhooks to loopback addresses and over plain HTTP. Refused in production."`

	Sender       sender.Config
	Idempotency  idempotency.Config
	LogRetention time.Duration `env:"WEBHOOK_LOG_RETENTION" envDefault:"720h" check:"min=24h" doc:"How long finished deliveries and their attempts are stored, and at most the responses to POSTs about webhooks; must be longer than Kafka keeps changes."`
}

var (
	errLoopback = errors.New("webhooks to loopback addresses are not allowed in production")
	errLease    = errors.New("is too short for an attempt, which may take")
)

// Validate implements the check of package settings.
func (c Config) Validate() error {
	var invalid []error
	refuse := func(variable string, err error) { invalid = append(invalid, settings.Invalid(variable, err)) }
	if c.AllowLoopback && c.Environment == apikey.Production {
		refuse("ALLOW_LOOPBACK_WEBHOOKS", errLoopback)
	}
	if err := redisconn.Check(c.RedisURL); err != nil {
		refuse("REDIS_URL", err)
	}
	if least := sender.MinLease(c.Sender.Timeout); c.Sender.Lease < least {
		refuse("WEBHOOK_LEASE", fmt.Errorf("%s %w %s", c.Sender.Lease, errLease, least))
	}
	return errors.Join(invalid...)
}
