package webhook

import (
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

// Config of the service. Zero values of the settings that have a default stand for it.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config
	Kafka     kafka.Config `envPrefix:"KAFKA_"`

	Environment apikey.Environment `env:"ENVIRONMENT" envDefault:"sandbox" doc:"production or sandbox; stands in every event."`
	TenantsAddr string             `env:"TENANTS_ADDR,required" doc:"host:port of the tenants service."`

	KafkaTopic string `env:"KAFKA_TOPIC" envDefault:"gifting.changes.v1" doc:"Topic of all changes."`
	KafkaGroup string `env:"KAFKA_WEBHOOK_GROUP" envDefault:"gifting-webhook" doc:"Consumer group of the webhook sender."`

	AllowLoopback bool `env:"ALLOW_LOOPBACK_WEBHOOKS" doc:"Lets webhooks go to loopback and over plain HTTP. Refused in production."`

	Workers     int           `env:"WEBHOOK_WORKERS" envDefault:"128" doc:"Requests under way at once in this process."`
	PerEndpoint int           `env:"WEBHOOK_PER_ENDPOINT" envDefault:"8" doc:"Requests under way at once to one endpoint, over all instances."`
	Timeout     time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"10s" doc:"How long one attempt may take."`
	Lease       time.Duration `env:"WEBHOOK_LEASE" envDefault:"30s" doc:"After which a delivery whose sender died is sent again; at least the timeout and 5 s."`
	Poll        time.Duration `env:"WEBHOOK_POLL" envDefault:"1s" doc:"How often due retries are looked for."`
	TestTimeout time.Duration `env:"WEBHOOK_TEST_TIMEOUT" envDefault:"8s" doc:"How long a webhook test may take; less than the database's statement time-out."`

	IdempotencyRetention time.Duration `env:"IDEMPOTENCY_RETENTION" envDefault:"720h" doc:"How long the answer to a webhook test is kept."`
	LogRetention         time.Duration `env:"WEBHOOK_LOG_RETENTION" envDefault:"720h" doc:"How long finished deliveries and their attempts are kept; longer than Kafka keeps changes."`
}

const (
	defaultTopic        = "gifting.changes.v1"
	defaultGroup        = "gifting-webhook"
	defaultWorkers      = 128
	defaultPerEndpoint  = 8
	defaultTimeout      = 10 * time.Second
	defaultLease        = 30 * time.Second
	defaultPoll         = time.Second
	defaultTestTimeout  = 8 * time.Second
	defaultLogRetention = 30 * 24 * time.Hour
	// databaseIdle is what package postgres allows a transaction to stand idle by default.
	databaseIdle = 10 * time.Second
)

var errConfig = errors.New("configuration")

// complete fills the defaults in and refuses what cannot work.
func (c Config) complete() (Config, error) {
	orDefault(&c.Environment, apikey.Sandbox)
	orDefault(&c.KafkaTopic, defaultTopic)
	orDefault(&c.KafkaGroup, defaultGroup)
	orDefault(&c.Workers, defaultWorkers)
	orDefault(&c.PerEndpoint, defaultPerEndpoint)
	orDefault(&c.Timeout, defaultTimeout)
	orDefault(&c.Lease, defaultLease)
	orDefault(&c.Poll, defaultPoll)
	orDefault(&c.TestTimeout, defaultTestTimeout)
	orDefault(&c.LogRetention, defaultLogRetention)
	idle := c.Database.StatementTimeout
	orDefault(&idle, databaseIdle)
	if err := c.Environment.Validate(); err != nil {
		return c, fmt.Errorf("%w: %w", errConfig, err)
	}
	switch {
	case c.AllowLoopback && c.Environment == apikey.Production:
		return c, fmt.Errorf("%w: webhooks to loopback addresses are not for production", errConfig)
	case len(c.Kafka.Brokers) == 0:
		return c, fmt.Errorf("%w: no Kafka brokers", errConfig)
	case c.Workers < 0 || c.PerEndpoint < 0 || c.Timeout < 0 || c.Poll < 0 || c.TestTimeout < 0 || c.LogRetention < 0:
		return c, fmt.Errorf("%w: numbers and times must be positive", errConfig)
	case c.Lease < sender.MinLease(c.Timeout):
		return c, fmt.Errorf("%w: a lease of %s is too short, an attempt may need %s", errConfig, c.Lease, sender.MinLease(c.Timeout))
	case c.TestTimeout >= idle:
		return c, fmt.Errorf("%w: a test of %s would outlast its transaction, which may be idle for %s", errConfig, c.TestTimeout, idle)
	default:
		return c, nil
	}
}

func orDefault[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}
