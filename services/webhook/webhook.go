// Package webhook is the service that sends changes to the webhooks of API keys (API specification,
// sections Events and Webhook delivery).
//
// It reads changes from Kafka, stores a delivery for each key that receives them, and sends the signed deliveries until each is
// delivered, has failed or is dropped. A delivery may be sent more than once. Any number of instances share the work.
package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/fanout"
	"github.com/partnergifting/platform/services/webhook/internal/sender"
	"github.com/partnergifting/platform/services/webhook/internal/server"
	"github.com/partnergifting/platform/services/webhook/internal/store"
	"github.com/partnergifting/platform/services/webhook/internal/webhookclient"
)

const (
	retentionInterval = time.Hour
	// retentionBatch bounds how long a transaction of the retention holds its locks.
	retentionBatch = 1000
)

// Service is the running service.
type Service struct {
	tel         *telemetry.Telemetry
	pool        *pgxpool.Pool
	tenantsConn *grpc.ClientConn
	// versions are those of tenants, from Redis.
	versions *tenants.VersionReader
	client   *http.Client
	server   *rpc.Server
	sender   *sender.Sender
	changes  *kafka.Consumer
	// answers and log delete rows past retention, by the clock.
	clock   daemon.Part
	answers daemon.Part
	log     daemon.Part
	keys    *seal.RingCheck
}

// Migrate brings the service's database up to date.
func Migrate(ctx context.Context, cfg Config, out io.Writer) error {
	return postgres.Migrate(ctx, cfg.Database, out, idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations())
}

// Compare compares the database with the migrations of this version.
func Compare(ctx context.Context, cfg Config) (postgres.Difference, error) {
	return postgres.Compare(ctx, cfg.Database.URL, idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations())
}

// New opens the service's database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	pool, err := postgres.OpenObserved(ctx, cfg.Database, tel, postgres.ByIndex, postgres.PlanOnce)
	if err != nil {
		return nil, err
	}
	tenantsConn, err := rpc.Dial(rpc.Target{Service: identity.Tenants, Addr: cfg.TenantsAddr, TLS: cfg.RPC.TLS}, tel)
	if err != nil {
		pool.Close()
		return nil, err
	}
	versions, err := tenants.OpenVersions(cfg.RedisURL, tel)
	if err != nil {
		_ = tenantsConn.Close()
		pool.Close()
		return nil, err
	}
	s := &Service{
		tel: tel, pool: pool, tenantsConn: tenantsConn, versions: versions,
		client: netguard.NewClient(netguard.Options{
			Timeout: cfg.Sender.Timeout, ConnectTimeout: cfg.Sender.Connect, AllowLoopback: cfg.AllowLoopback,
		}),
	}
	if err := s.assemble(ctx, cfg); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// assemble makes the parts in the order of their dependencies.
func (s *Service) assemble(ctx context.Context, cfg Config) error {
	directory := tenantsv1.NewDirectoryServiceClient(s.tenantsConn)
	deliveries := store.New(s.pool)
	client := webhookclient.New(s.client, now)

	reader, err := seal.NewEventReader(cfg.EventKeys, s.tel)
	if err != nil {
		return err
	}
	if err := s.checkKeys(ctx, cfg.EventKeys); err != nil {
		return err
	}
	s.sender, err = sender.New(sender.Deps{
		Store: deliveries, Directory: directory, Client: client, Reader: reader, Now: time.Now, Telemetry: s.tel,
	}, cfg.Sender)
	if err != nil {
		return err
	}
	if err := errors.Join(observe(deliveries, s.sender, s.tel), observeRetention(cfg.LogRetention, s.tel)); err != nil {
		return err
	}
	fan, err := fanout.New(
		fanout.Deps{Store: deliveries, Directory: directory, Versions: s.versions, Sender: s.sender, Telemetry: s.tel},
		fanout.Config{Topic: cfg.KafkaTopic, Environment: string(cfg.Environment)})
	if err != nil {
		return err
	}
	s.changes, err = kafka.NewConsumer(cfg.Kafka, kafka.ConsumerOptions{
		Group: cfg.KafkaGroup, Topic: cfg.KafkaTopic, Offsets: store.Offsets{Store: deliveries}, ID: fanout.EventID,
	}, s.tel, fan.Handle)
	if err != nil {
		return err
	}

	clock, err := daemon.NewRetentionClock(s.pool, s.tel)
	if err != nil {
		return err
	}
	s.clock = clock.Part(s.tel)
	s.answers = idempotency.Retention(s.pool, clock, cfg.Idempotency, s.tel)
	s.log = clock.Every("retention", retentionInterval, s.tel, func(ctx context.Context, lag time.Duration) error {
		if err := deliveries.ForgetSenders(ctx); err != nil {
			return err
		}
		var since time.Time
		return daemon.InBatches(ctx, retentionBatch, func(ctx context.Context, limit int) (deleted int, err error) {
			deleted, since, err = deliveries.DeleteFinished(ctx, cfg.LogRetention+lag, since, limit)
			return deleted, err
		})
	})

	if s.server, err = rpc.NewServer(cfg.RPC, s.tel, server.Collectors()...); err != nil {
		return err
	}
	webhookv1.RegisterWebhookServiceServer(s.server, server.New(
		server.Deps{Pool: s.pool, Store: deliveries, Directory: directory, Client: client, Reader: reader, Wake: s.sender.Wake, Now: now},
		server.Config{
			Environment: string(cfg.Environment), TestTimeout: cfg.Sender.Timeout, Tests: max(1, int(s.pool.Config().MaxConns)/2),
		}))
	privacyv1.RegisterTenantDataServiceServer(s.server, &tenants.ExportServer{Database: store.TenantData(s.pool, reader)})
	privacyv1.RegisterRecordEventsServiceServer(s.server, &outbox.RecordEventsServer{Erase: deliveries.EraseEvents})
	webhookv1.RegisterWebhookOperationsServiceServer(s.server, server.NewOperations(
		deliveries, reader, tenants.NewCache(directory), s.sender.Wake, s.tel.Logger))
	return nil
}

// checkKeys compares the event ring with the events that have deliveries.
func (s *Service) checkKeys(ctx context.Context, keys seal.EventKeys) error {
	ring, err := keys.Parse()
	if err != nil {
		return err
	}
	s.keys, err = seal.NewRingCheck(ctx, s.pool, s.tel, seal.CheckedEventRing(ring, store.Sealed()))
	return err
}

// Run serves and delivers until ctx ends, then finishes the attempts in flight.
func (s *Service) Run(ctx context.Context) error {
	defer s.close()
	return daemon.Run(ctx, s.tel.Logger,
		s.keys.Hold(daemon.Part{Name: "rpc", Run: s.server.Run}),
		daemon.Metrics(s.tel, s.keys.Ready, s.server.Ready, s.pool.Ping),
		daemon.Part{Name: "fan-out", Run: s.changes.Run},
		daemon.Part{Name: "sender", Run: s.sender.Run},
		s.keys.Part(),
		s.clock,
		s.answers,
		s.log,
	)
}

func (s *Service) close() {
	s.client.CloseIdleConnections()
	_ = s.tenantsConn.Close() // No call is in flight.
	_ = s.versions.Close()
	s.pool.Close()
}

// now is the current time in the precision of the database.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

const scope = "github.com/partnergifting/platform/services/webhook"

// observe registers the metrics of waiting deliveries.
func observe(deliveries *store.Store, from *sender.Sender, tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	count, err := meter.Int64ObservableGauge("gifting.webhook.waiting_deliveries",
		metric.WithDescription("Deliveries that are not finished."))
	if err != nil {
		return err
	}
	oldest, err := meter.Float64ObservableGauge("gifting.webhook.oldest_waiting_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest delivery that is not finished."))
	if err != nil {
		return err
	}
	due, err := meter.Float64ObservableGauge("gifting.webhook.oldest_due_age", metric.WithUnit("s"),
		metric.WithDescription("The longest time that a delivery has been due to an endpoint that is healthy and has no request "+
			"in flight."))
	if err != nil {
		return err
	}
	sample := telemetry.NewSample(func(ctx context.Context) (store.Waiting, error) {
		return deliveries.Waiting(ctx, from.Impaired())
	}, time.Now, tel.Logger)
	_, err = meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if waiting, ok := sample.Get(ctx); ok {
			o.ObserveInt64(count, waiting.Deliveries)
			o.ObserveFloat64(oldest, waiting.Oldest.Seconds())
			o.ObserveFloat64(due, waiting.Due.Seconds())
		}
		return nil
	}, count, oldest, due)
	return err
}

// observeRetention lets an alert compare it with how long Kafka keeps changes: a change that is read again after its deliveries
// were deleted is sent again.
func observeRetention(retention time.Duration, tel *telemetry.Telemetry) error {
	_, err := tel.Meters.Meter(scope).Float64ObservableGauge("gifting.webhook.log_retention", metric.WithUnit("s"),
		metric.WithDescription("How long finished deliveries are stored."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			o.Observe(retention.Seconds())
			return nil
		}))
	return err
}
