// Package events is the service for the event feed. The relay publishes the outboxes of all services to Kafka in one order. The
// feed stores the events from Kafka for GET /events (API specification, section Events).
package events

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/service"
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

const (
	// confirmInterval is how often rows leave the outboxes. Each time costs the broker a request for each partition.
	confirmInterval = 5 * time.Second
	// heartbeatInterval is how often the relay reads the outboxes if nothing happens. Each time costs a transaction in each of them. A
	// change waits so long only if its service ended between the commit and the notification.
	heartbeatInterval = 3 * time.Second
	// feedLeases is the class of the advisory locks by which the instances divide the partitions of the topic.
	feedLeases = 0x66656564
)

// Program describes the command of the service.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.Events,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg Config) postgres.Config { return cfg.Database },
		Schema:    []postgres.Migrations{daemon.RetentionClockMigrations(), store.Migrations()},
		New:       New,
		Tasks: []service.Task[Config]{
			{
				Name: "redrive", RunWith: Redrive,
				Short: "append to the feed the events of a time span that Kafka or the outboxes have and the feed lacks",
			},
			{
				Name: "skip", RunWith: Skip,
				Short: "move the stored offset of a partition forward, past messages that are lost or can never be handled",
			},
			{Name: "forget-topic", Short: "forget the stored offsets, before the feed reads another topic", Run: ForgetTopic},
		},
	}
}

// New builds the service and opens its database, which must be migrated. Kafka and the outboxes may be down. Run closes everything.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*service.Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	ring, err := cfg.EventKeys.Parse()
	if err != nil {
		return nil, err
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, RPC: cfg.RPC, Collectors: server.Collectors(), Database: &cfg.Database, DatabaseOptions: databaseOptions(),
		KeyRings: []seal.CheckedRing{seal.CheckedEventRing(ring, store.Sealed())},
	}, func(s *service.Service) error { return assemble(ctx, s, cfg) })
}

func assemble(ctx context.Context, s *service.Service, cfg Config) error {
	events := store.New(s.Pool)
	topicSettings := cfg.topic()
	topicSettings.CheckPartitions = events.CheckPartitions
	topic, err := relay.NewTopic(cfg.Kafka, topicSettings, s.Telemetry)
	if err != nil {
		return err
	}
	s.AtEnd(topic.Close)
	s.Add(daemon.Part{Name: "topic", Run: topic.Run})
	s.ReadyIf(topic.Ready)
	if err := addRelay(ctx, s, cfg, events, topic); err != nil {
		return err
	}
	hub := &notices.Hub{}
	announcer := notices.NewAnnouncer(hub, s.Pool, s.Telemetry.Logger)
	// Last: until the streams of gateways end, other instances store events that they wait for.
	s.Add(daemon.Part{Name: "announcer", Run: announcer.Run, Last: true},
		daemon.Part{Name: "listener", Run: announcer.Listen, Last: true})
	retention := func() time.Duration { return cfg.Retention + s.Clock.LastLag() }
	if err := addFeed(s, cfg, events, topic, announcer, retention); err != nil {
		return err
	}
	return register(s, cfg, events, topic, hub, retention)
}

// addRelay adds what publishes the outboxes of all services to the topic.
func addRelay(ctx context.Context, s *service.Service, cfg Config, events *store.Store, topic *relay.Topic) error {
	readers := []relay.Reader{events.NextOffsets, topic.Group(cfg.WebhookGroup)}
	publisher, err := relay.New(ctx, relay.Deps{Publisher: topic, Readers: readers, Telemetry: s.Telemetry}, relay.Config{
		Sources:           cfg.Sources,
		LeaderURL:         cfg.Database.URL,
		Retention:         cfg.OutboxRetention,
		ConfirmInterval:   confirmInterval,
		PollInterval:      cfg.PollInterval,
		HeartbeatInterval: heartbeatInterval,
		BatchInterval:     outbox.PollDelay,
		BatchSize:         cfg.BatchSize,
	})
	if err != nil {
		return err
	}
	s.AtEnd(publisher.Close)
	s.Add(daemon.Part{Name: "relay", Run: publisher.Run})
	return nil
}

// addFeed adds what stores the events of the topic, and what creates and drops the partitions of the feed by the clock.
func addFeed(
	s *service.Service, cfg Config, events *store.Store, topic *relay.Topic, announcer *notices.Announcer,
	retention func() time.Duration,
) error {
	if err := feed.Observe(events, s.Telemetry); err != nil {
		return err
	}
	writer, err := feed.NewWriter(events, announcer, retention, s.Telemetry)
	if err != nil {
		return err
	}
	var checked atomic.Bool // A topic that is refused is not read. A setting that gets weaker later is only reported.
	consumer, err := kafka.NewConsumer(cfg.Kafka, kafka.ConsumerOptions{
		Group: cfg.KafkaGroup, Topic: cfg.KafkaTopic,
		Offsets: feed.Offsets{Offsets: store.Offsets{Store: events}, Announcer: announcer}, ID: feed.EventID,
		CheckPartitions: func(ctx context.Context, count int) error {
			if !checked.Load() {
				if err := topic.Ensure(ctx); err != nil {
					return err
				}
				checked.Store(true)
			}
			return events.CheckPartitions(ctx, count)
		},
		Leases: postgres.Leases{URL: cfg.Database.URL, Class: feedLeases, Log: s.Telemetry.Logger},
	}, s.Telemetry, writer.Handle)
	if err != nil {
		return err
	}
	s.Add(feed.Maintenance(events, s.Clock, cfg.Retention, s.Telemetry))
	s.Add(daemon.Part{Name: "feed", Run: consumer.Run})
	return nil
}

// register registers the methods of the gRPC server.
func register(
	s *service.Service, cfg Config, events *store.Store, topic *relay.Topic, hub *notices.Hub, retention func() time.Duration,
) error {
	directory, err := s.Dial(identity.Tenants, cfg.TenantsAddr)
	if err != nil {
		return err
	}
	reader, err := seal.NewEventReader(cfg.EventKeys, s.Telemetry)
	if err != nil {
		return err
	}
	eventsv1.RegisterEventsServiceServer(s.Server, server.New(events, reader, cfg.Environment))
	eventsv1.RegisterEventOperationsServiceServer(s.Server, server.NewOperations(events, reader, cfg.Environment, hub,
		tenants.NewCache(tenantsv1.NewDirectoryServiceClient(directory), cfg.Cell)))
	eventsv1.RegisterFeedNoticesServiceServer(s.Server, server.NewFeedNotices(hub))
	eventsv1.RegisterFeedEventsServiceServer(s.Server, server.NewFeedEvents(events))
	eventsv1.RegisterFeedRecordsServiceServer(s.Server, server.NewFeedRecords(events, topic, retention, s.Telemetry.Logger))
	privacyv1.RegisterTenantDataServiceServer(s.Server, &tenants.ExportServer{Database: store.TenantData(s.Pool, reader)})
	privacyv1.RegisterRecordEventsServiceServer(s.Server, &outbox.RecordEventsServer{
		Erase: func(ctx context.Context, tenantID string, ids []string) (int, error) {
			return 0, events.EraseEvents(ctx, tenantID, ids)
		},
		Remainders: func() map[string]time.Duration {
			// The topic may keep messages for longer than it was made to.
			return map[string]time.Duration{"kafka": max(cfg.KafkaRetention, topic.MaxAge()), "outbox": cfg.OutboxRetention}
		},
	})
	return nil
}
