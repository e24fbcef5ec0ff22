package webhook

import (
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config
	Kafka     kafka.Config `envPrefix:"KAFKA_"`

	Environment apikey.Environment `env:"ENVIRONMENT" envDefault:"sandbox" check:"oneof=production|sandbox" doc:"Which deployment this is: named in every event."`
	TenantsAddr string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a name of which DNS knows all instances, or the instances."`

	KafkaTopic string `env:"KAFKA_TOPIC" envDefault:"gifting.changes.v1" doc:"Topic of all changes."`
	KafkaGroup string `env:"KAFKA_WEBHOOK_GROUP" envDefault:"gifting-webhook" doc:"Consumer group of the webhook sender."`

	AllowLoopback bool `env:"ALLOW_LOOPBACK_WEBHOOKS" doc:"Lets webhooks go to loopback and over plain HTTP. Refused in production."`

	Workers     int           `env:"WEBHOOK_WORKERS" envDefault:"256" check:"min=1" doc:"Requests in flight at the same time in this process."`
	PerEndpoint int           `env:"WEBHOOK_PER_ENDPOINT" envDefault:"8" check:"min=1" doc:"Requests in flight at the same time to one endpoint, over all instances."`
	Timeout     time.Duration `env:"WEBHOOK_TIMEOUT" envDefault:"10s" check:"min=100ms" doc:"How long one attempt may take."`
	Lease       time.Duration `env:"WEBHOOK_LEASE" envDefault:"30s" check:"min=1s" doc:"After which a delivery whose sender died is sent again; at least the timeout and 5 s."`
	Poll        time.Duration `env:"WEBHOOK_POLL" envDefault:"1s" check:"min=10ms" doc:"How often to look for due retries."`
	TestTimeout time.Duration `env:"WEBHOOK_TEST_TIMEOUT" envDefault:"8s" check:"min=100ms" doc:"How long a webhook test may take; less than the database's statement time-out."`

	Idempotency  idempotency.Config
	LogRetention time.Duration `env:"WEBHOOK_LOG_RETENTION" envDefault:"720h" check:"min=24h" doc:"How long finished deliveries and their attempts are kept; longer than Kafka keeps changes."`
}

var (
	errLoopback = errors.New("webhooks to loopback addresses are not for production")
	errBrokers  = errors.New("no Kafka brokers are configured")
	errPositive = errors.New("numbers and times must be positive")
	errLease    = errors.New("is too short for an attempt, which may need")
	errTest     = errors.New("would outlast its transaction, which may be idle for")
)

// Validate implements the check of package settings.
func (c Config) Validate() error {
	var loopback, brokers, positive, lease, test error
	if c.AllowLoopback && c.Environment == apikey.Production {
		loopback = errLoopback
	}
	if len(c.Kafka.Brokers) == 0 {
		brokers = errBrokers
	}
	if c.Workers < 0 || c.PerEndpoint < 0 || c.Timeout < 0 || c.Poll < 0 || c.TestTimeout < 0 || c.LogRetention < 0 {
		positive = errPositive
	}
	if least := sender.MinLease(c.Timeout); c.Lease < least {
		lease = fmt.Errorf("%s %w %s", c.Lease, errLease, least)
	}
	if idle := c.Database.StatementTimeout; c.TestTimeout >= idle {
		test = fmt.Errorf("%s %w %s", c.TestTimeout, errTest, idle)
	}
	return errors.Join(
		settings.Invalid("ENVIRONMENT", c.Environment.Validate()), settings.Invalid("ALLOW_LOOPBACK_WEBHOOKS", loopback),
		settings.Invalid("KAFKA_BROKERS", brokers), positive,
		settings.Invalid("WEBHOOK_LEASE", lease), settings.Invalid("WEBHOOK_TEST_TIMEOUT", test),
	)
}
