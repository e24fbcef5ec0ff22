// Package webhook is the service that sends changes to the webhooks of API keys (API specification,
// sections Events and Webhook delivery).
//
// It reads changes from Kafka, stores a delivery for each key that receives them, and sends the signed deliveries until each is
// delivered, has failed or is dropped. A delivery may be sent more than once. Any number of instances share the work.
package webhook

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/netguard"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/service"
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
	// fanOutLeases is the class of the advisory locks by which the instances divide the partitions of the topic.
	fanOutLeases = 0x666e6f74
)

// Program describes the command of the service.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.Webhook,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg Config) postgres.Config { return cfg.Database },
		Schema:    []postgres.Migrations{idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations()},
		New:       New,
		Tasks: []service.Task[Config]{
			{Name: "redrive", Short: "make the deliveries that events of a time span lack", RunWith: Redrive},
			{
				Name: "skip", RunWith: Skip,
				Short: "move the stored offset of a partition forward, past messages that are lost or can never be handled",
			},
			{Name: "forget-topic", Short: "forget the stored offsets, before the fan-out reads another topic", Run: ForgetTopic},
		},
	}
}

// New builds the service and opens its database and connections. Run closes them, after the attempts in flight have finished.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*service.Service, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Validate()); err != nil {
		return nil, err
	}
	ring, err := cfg.EventKeys.Parse()
	if err != nil {
		return nil, err
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, RPC: cfg.RPC, Collectors: server.Collectors(), Database: &cfg.Database,
		DatabaseOptions: []postgres.Option{postgres.ByIndex, postgres.PlanOnce},
		KeyRings:        []seal.CheckedRing{seal.CheckedEventRing(ring, store.Sealed())},
	}, func(s *service.Service) error { return assemble(s, cfg) })
}

func assemble(s *service.Service, cfg Config) error {
	conn, err := s.Dial(identity.Tenants, cfg.TenantsAddr)
	if err != nil {
		return err
	}
	directory, deliveries := tenantsv1.NewDirectoryServiceClient(conn), store.New(s.Pool)
	httpClient := netguard.NewClient(netguard.Options{
		Timeout: cfg.Sender.Timeout, ConnectTimeout: cfg.Sender.Connect, AllowLoopback: cfg.AllowLoopback,
	})
	s.AtEnd(httpClient.CloseIdleConnections)
	client := webhookclient.New(httpClient, now)
	reader, err := seal.NewEventReader(cfg.EventKeys, s.Telemetry)
	if err != nil {
		return err
	}
	sending, err := sender.New(sender.Deps{
		Store: deliveries, Directory: directory, Client: client, Reader: reader, Now: time.Now, Telemetry: s.Telemetry,
		Cell: cfg.Cell,
	}, cfg.Sender)
	if err != nil {
		return err
	}
	s.Add(daemon.Part{Name: "sender", Run: sending.Run})
	if err := addFanOut(s, cfg, directory, deliveries, sending); err != nil {
		return err
	}
	addRetention(s, cfg, deliveries)
	webhooks := server.New(
		server.Deps{Pool: s.Pool, Store: deliveries, Directory: directory, Client: client, Reader: reader, Wake: sending.Wake, Now: now},
		server.Config{
			Cell: cfg.Cell, Environment: string(cfg.Environment), TestTimeout: cfg.Sender.Timeout,
			Tests: max(1, int(s.Pool.Config().MaxConns)/2),
		})
	webhookv1.RegisterWebhookServiceServer(s.Server, webhooks)
	privacyv1.RegisterTenantDataServiceServer(s.Server, &tenants.ExportServer{Database: store.TenantData(s.Pool, reader)})
	privacyv1.RegisterRecordEventsServiceServer(s.Server, &outbox.RecordEventsServer{Erase: webhooks.EraseEvents})
	webhookv1.RegisterWebhookOperationsServiceServer(s.Server, server.NewOperations(
		deliveries, reader, tenants.NewCache(directory, cfg.Cell), sending.Wake, s.Telemetry.Logger))
	return observe(deliveries, sending, cfg.LogRetention, s.Telemetry)
}

// addFanOut adds what makes the deliveries of each change of the topic.
func addFanOut(
	s *service.Service, cfg Config, directory tenantsv1.DirectoryServiceClient, deliveries *store.Store, sending *sender.Sender,
) error {
	versions, err := tenants.OpenVersions(cfg.RedisURL, s.Telemetry)
	if err != nil {
		return err
	}
	s.CloseAtEnd(versions)
	fan, err := fanout.New(
		fanout.Deps{Store: deliveries, Directory: directory, Versions: versions, Sender: sending, Telemetry: s.Telemetry},
		fanout.Config{Topic: cfg.KafkaTopic, Environment: string(cfg.Environment), Cell: cfg.Cell})
	if err != nil {
		return err
	}
	changes, err := kafka.NewConsumer(cfg.Kafka, kafka.ConsumerOptions{
		Group: cfg.KafkaGroup, Topic: cfg.KafkaTopic, Offsets: store.Offsets{Store: deliveries}, ID: fanout.EventID,
		Leases: postgres.Leases{URL: cfg.Database.URL, Class: fanOutLeases, Log: s.Telemetry.Logger},
	}, s.Telemetry, fan.Handle)
	if err != nil {
		return err
	}
	s.Add(daemon.Part{Name: "fan-out", Run: changes.Run})
	return nil
}

// addRetention adds what deletes finished deliveries and stored answers by age, and ends waits that are too long.
func addRetention(s *service.Service, cfg Config, deliveries *store.Store) {
	s.Add(idempotency.Retention(s.Pool, s.Clock, cfg.Idempotency, s.Telemetry))
	s.Add(s.Clock.Every("retention", retentionInterval, s.Telemetry, func(ctx context.Context, lag time.Duration) error {
		if err := deliveries.ForgetSenders(ctx); err != nil {
			return err
		}
		if err := daemon.InBatches(ctx, retentionBatch, deliveries.EndLongWaits); err != nil {
			return err
		}
		// An erasure finds the answers that show a receiver's response by their deliveries, so these answers are deleted first.
		if err := idempotency.DeleteOld(ctx, s.Pool, cfg.LogRetention+lag); err != nil {
			return err
		}
		var since time.Time
		return daemon.InBatches(ctx, retentionBatch, func(ctx context.Context, limit int) (deleted int, err error) {
			deleted, since, err = deliveries.DeleteFinished(ctx, cfg.LogRetention+lag, since, limit)
			return deleted, err
		})
	}))
}

// now is the current time in the precision of the database.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

const scope = "github.com/partnergifting/platform/services/webhook"

// observe registers the metrics of waiting deliveries and of their retention. An alert compares the retention with how long Kafka
// keeps changes: a change that is read again after its deliveries were deleted is sent again.
func observe(deliveries *store.Store, from *sender.Sender, retention time.Duration, tel *telemetry.Telemetry) error {
	meter := tel.Meters.Meter(scope)
	count, err1 := meter.Int64ObservableGauge("gifting.webhook.waiting_deliveries",
		metric.WithDescription("Deliveries that are not finished."))
	oldest, err2 := meter.Float64ObservableGauge("gifting.webhook.oldest_waiting_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest delivery that is not finished."))
	due, err3 := meter.Float64ObservableGauge("gifting.webhook.oldest_due_age", metric.WithUnit("s"),
		metric.WithDescription("The longest time that a delivery has been due to an endpoint that is healthy and has no request "+
			"in flight."))
	kept, err4 := meter.Float64ObservableGauge("gifting.webhook.log_retention", metric.WithUnit("s"),
		metric.WithDescription("How long finished deliveries are stored."))
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	sample := telemetry.NewSample(func(ctx context.Context) (store.Waiting, error) {
		return deliveries.Waiting(ctx, from.Impaired())
	}, time.Now, tel.Logger)
	_, err := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		o.ObserveFloat64(kept, retention.Seconds())
		if waiting, ok := sample.Get(ctx); ok {
			o.ObserveInt64(count, waiting.Deliveries)
			o.ObserveFloat64(oldest, waiting.Oldest.Seconds())
			o.ObserveFloat64(due, waiting.Due.Seconds())
		}
		return nil
	}, count, oldest, due, kept)
	return err
}
