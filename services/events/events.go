// Package events is the service for the event feed. The relay publishes the outboxes of all services to Kafka in one order. The
// feed stores the events from Kafka for GET /events (API specification, section Events).
package events

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/events/internal/feed"
	"github.com/partnergifting/platform/services/events/internal/notices"
	"github.com/partnergifting/platform/services/events/internal/relay"
	"github.com/partnergifting/platform/services/events/internal/server"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// Service is the running service.
type Service struct {
	pool     *pgxpool.Pool
	tenants  *grpc.ClientConn
	tel      *telemetry.Telemetry
	rpc      *rpc.Server
	topic    *relay.Topic
	relay    *relay.Relay
	consumer *kafka.Consumer
	// announcer tells readers of all instances of new events.
	announcer *notices.Announcer
	// maintenance, by the clock, creates and drops the feed's partitions.
	maintenance daemon.Part
	clock       *daemon.RetentionClock
	keys        *seal.RingCheck
}

// Migrate brings the service's database up to date.
func Migrate(ctx context.Context, cfg Config, out io.Writer) error {
	return postgres.Migrate(ctx, cfg.Database, out, daemon.RetentionClockMigrations(), store.Migrations())
}

// Compare compares the database with the migrations of this version.
func Compare(ctx context.Context, cfg Config) (postgres.Difference, error) {
	return postgres.Compare(ctx, cfg.Database.URL, daemon.RetentionClockMigrations(), store.Migrations())
}

// New opens the service's database, which must be migrated. Kafka and the outboxes may be down.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	pool, err := openDatabase(ctx, cfg, tel)
	if err != nil {
		return nil, err
	}
	tenants, err := rpc.Dial(rpc.Target{Service: identity.Tenants, Addr: cfg.TenantsAddr, TLS: cfg.RPC.TLS}, tel)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s := &Service{pool: pool, tel: tel, tenants: tenants}
	if err := s.build(ctx, cfg); err != nil {
		pool.Close()
		return nil, errors.Join(err, tenants.Close())
	}
	return s, nil
}

func (s *Service) build(ctx context.Context, cfg Config) error {
	events := store.New(s.pool)
	if err := feed.Observe(events, s.tel); err != nil {
		return err
	}
	var err error
	if s.clock, err = daemon.NewRetentionClock(s.pool, s.tel); err != nil {
		return err
	}
	hub := &notices.Hub{}
	s.announcer = notices.NewAnnouncer(hub, s.pool, s.tel.Logger)
	writer, err := feed.NewWriter(events, s.announcer, func() time.Duration { return cfg.Retention + s.clock.LastLag() }, s.tel)
	if err != nil {
		return err
	}
	s.maintenance = feed.Maintenance(events, s.clock, cfg.Retention, s.tel)
	s.consumer, err = kafka.NewConsumer(cfg.Kafka, kafka.ConsumerOptions{
		Group: cfg.KafkaGroup, Topic: cfg.KafkaTopic,
		Offsets: feed.Offsets{Offsets: store.Offsets{Store: events}, Announcer: s.announcer}, ID: feed.EventID,
		CheckPartitions: events.CheckPartitions,
	}, s.tel, writer.Handle)
	if err != nil {
		return err
	}
	reader, err := seal.NewEventReader(cfg.EventKeys, s.tel)
	if err != nil {
		return err
	}
	ring, err := cfg.EventKeys.Parse()
	if err != nil {
		return err
	}
	if s.keys, err = seal.NewRingCheck(ctx, s.pool, s.tel, seal.CheckedEventRing(ring, store.Sealed())); err != nil {
		return err
	}
	if s.rpc, err = rpc.NewServer(cfg.RPC, s.tel, server.Collectors()...); err != nil {
		return err
	}
	eventsv1.RegisterEventsServiceServer(s.rpc, server.New(events, reader, cfg.Environment))
	eventsv1.RegisterEventOperationsServiceServer(s.rpc, server.NewOperations(events, reader, cfg.Environment, hub,
		tenants.NewCache(tenantsv1.NewDirectoryServiceClient(s.tenants))))
	eventsv1.RegisterFeedNoticesServiceServer(s.rpc, server.NewFeedNotices(hub))
	eventsv1.RegisterFeedEventsServiceServer(s.rpc, server.NewFeedEvents(events))
	privacyv1.RegisterTenantDataServiceServer(s.rpc, &tenants.ExportServer{Database: store.TenantData(s.pool, reader)})
	privacyv1.RegisterRecordEventsServiceServer(s.rpc, &outbox.RecordEventsServer{
		Erase: func(ctx context.Context, tenantID string, ids []string) (int, error) {
			return 0, events.EraseEvents(ctx, tenantID, ids)
		},
		Remainders: map[string]time.Duration{"kafka": cfg.KafkaRetention, "outbox": cfg.OutboxRetention},
	})

	topic := cfg.topic()
	topic.CheckPartitions = events.CheckPartitions
	if s.topic, err = relay.NewTopic(cfg.Kafka, topic, s.tel); err != nil {
		return err
	}
	eventsv1.RegisterFeedRecordsServiceServer(s.rpc, server.NewFeedRecords(events, s.topic, s.tel.Logger))
	readers := []relay.Reader{events.NextOffsets, s.topic.Group(cfg.WebhookGroup)}
	s.relay, err = relay.New(ctx, relay.Deps{Publisher: s.topic, Readers: readers, Telemetry: s.tel}, relay.Config{
		Sources:           cfg.Sources,
		LeaderURL:         cfg.Database.URL,
		Retention:         cfg.OutboxRetention,
		ConfirmInterval:   confirmInterval,
		PollInterval:      cfg.PollInterval,
		HeartbeatInterval: heartbeatInterval,
		BatchInterval:     outbox.PollDelay,
		BatchSize:         cfg.BatchSize,
	})
	return err
}

const (
	// confirmInterval is how often rows leave the outboxes. Each time costs the broker a request for each partition.
	confirmInterval = 5 * time.Second
	// heartbeatInterval is how often the relay reads the outboxes if nothing happens.
	heartbeatInterval = time.Second
)

// Run serves until ctx ends and then closes everything that New opened.
func (s *Service) Run(ctx context.Context) error {
	err := daemon.Run(ctx, s.tel.Logger,
		s.keys.Hold(daemon.Part{Name: "rpc", Run: s.rpc.Run}),
		daemon.Metrics(s.tel, s.keys.Ready, s.rpc.Ready, s.pool.Ping, s.topic.Ready),
		daemon.Part{Name: "topic", Run: s.topic.Run},
		daemon.Part{Name: "relay", Run: s.relay.Run},
		daemon.Part{Name: "announcer", Run: s.announcer.Run},
		daemon.Part{Name: "listener", Run: s.announcer.Listen},
		daemon.Part{Name: "feed", Run: func(ctx context.Context) error {
			return feed.Consume(ctx, s.topic.Ensure, s.consumer, s.tel.Logger)
		}},
		s.keys.Part(),
		s.clock.Part(s.tel),
		s.maintenance,
	)
	s.relay.Close()
	s.topic.Close()
	s.pool.Close()
	return errors.Join(err, s.tenants.Close())
}
