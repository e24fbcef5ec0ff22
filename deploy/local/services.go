package local

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog"
	"github.com/partnergifting/platform/services/events"
	"github.com/partnergifting/platform/services/orders"
	personallinks "github.com/partnergifting/platform/services/personal-links"
	"github.com/partnergifting/platform/services/tenants"
	"github.com/partnergifting/platform/services/webhook"
)

// environment of every stack of this package: the settings below are refused in production.
const environment = apikey.Sandbox

// service is one service of the platform behind its door.
type service struct {
	name    identity.Name
	migrate func(ctx context.Context) error
	// open builds the service and gives what runs it.
	open func(ctx context.Context, tel *telemetry.Telemetry) (run func(ctx context.Context) error, err error)
}

// wiring is what the configurations of the services are made of.
type wiring struct {
	Config
	secrets      secrets
	certificates certificates
	databases    *databases
	redisURL     string
	brokers      string
}

func (s wiring) rpc(name identity.Name) rpc.Config {
	return rpc.Config{Addr: s.addr(portOf(name)), TLS: s.certificates.of(name)}
}

func (s wiring) telemetry(o offset) telemetry.Config {
	return telemetry.Config{MetricsAddr: s.addr(o + toMetrics)}
}

func (s wiring) kafka(client string) kafka.Config {
	return kafka.Config{Brokers: strings.Split(s.brokers, ","), ClientID: client}
}

func (s wiring) tenants() service {
	cfg := tenants.Config{
		RPC: s.rpc(identity.Tenants), Database: s.databases.config(dbTenants), Telemetry: s.telemetry(portTenants),
		Environment: environment, SealKeys: s.secrets.TenantsSealKeys, RedisURL: s.redisURL, AllowLoopbackWebhooks: true,
	}
	return door(identity.Tenants, cfg, tenants.Migrate, tenants.New)
}

func (s wiring) catalog() (service, error) {
	images, err := filepath.Abs(filepath.Join(s.Dir, "images"))
	if err != nil {
		return service{}, fmt.Errorf("folder of images: %w", err)
	}
	bucket := url.URL{Scheme: "file", Path: filepath.ToSlash(images), RawQuery: "create_dir=true&no_tmp_dir=true&metadata=skip"}
	cfg := catalog.Config{
		RPC: s.rpc(identity.Catalog), Database: s.databases.config(dbCatalog), Telemetry: s.telemetry(portCatalog),
		TenantsAddr: s.addr(portTenants), ImagesURL: bucket.String(), PublicURL: s.publicURL(),
	}
	return door(identity.Catalog, cfg, catalog.Migrate, catalog.New), nil
}

func (s wiring) orders() service {
	cfg := orders.Config{
		RPC: s.rpc(identity.Orders), Database: s.databases.config(dbOrders), Telemetry: s.telemetry(portOrders),
		TenantsAddr: s.addr(portTenants), CatalogAddr: s.addr(portCatalog), SealKeys: s.secrets.OrdersSealKeys,
		OpeningHours: "Mon-Fri 09:00-17:00", OpeningZone: "Europe/Stockholm",
	}
	return door(identity.Orders, cfg, orders.Migrate, orders.New)
}

func (s wiring) personalLinks() service {
	cfg := personallinks.Config{
		RPC: s.rpc(identity.PersonalLinks), Database: s.databases.config(dbLinks), Telemetry: s.telemetry(portPersonalLinks),
		TenantsAddr: s.addr(portTenants), CatalogAddr: s.addr(portCatalog), OrdersAddr: s.addr(portOrders),
		SealKeys: s.secrets.LinksSealKeys, ClaimURL: s.claimURL(),
	}
	return door(identity.PersonalLinks, cfg, personallinks.Migrate, personallinks.New)
}

func (s wiring) events() service {
	cfg := events.Config{
		RPC: s.rpc(identity.Events), Database: s.databases.config(dbEvents), Telemetry: s.telemetry(portEvents),
		Environment: environment, Kafka: s.kafka("events"), KafkaTopic: s.Topic(), KafkaGroup: s.group(readerFeed),
		Sources: events.Sources{
			{Name: dbOrders, URL: s.databases.relayURL(dbOrders)},
			{Name: dbLinks, URL: s.databases.relayURL(dbLinks)},
		},
	}
	return door(identity.Events, cfg, events.Migrate, events.New)
}

func (s wiring) webhook() service {
	cfg := webhook.Config{
		RPC: s.rpc(identity.Webhook), Database: s.databases.config(dbWebhook), Telemetry: s.telemetry(portWebhook),
		Environment: environment, Kafka: s.kafka("webhook"), KafkaTopic: s.Topic(), KafkaGroup: s.group(readerWebhook),
		TenantsAddr: s.addr(portTenants), AllowLoopback: true,
	}
	return door(identity.Webhook, cfg, webhook.Migrate, webhook.New)
}

// gateway keeps nothing, so there is nothing to migrate.
func (s wiring) gateway() service {
	cfg := gateway.Config{
		HTTPAddr: s.addr(portGateway), TLS: s.certificates.of(identity.Gateway), Telemetry: s.telemetry(portGateway), Environment: environment, PublicURL: s.publicURL(),
		TenantsAddr: s.addr(portTenants), CatalogAddr: s.addr(portCatalog), OrdersAddr: s.addr(portOrders),
		PersonalLinksAddr: s.addr(portPersonalLinks), EventsAddr: s.addr(portEvents), WebhookAddr: s.addr(portWebhook),
		RedisURL: s.redisURL, FingerprintKey: s.secrets.FingerprintKey,
	}
	nothing := func(context.Context, gateway.Config) error { return nil }
	return door(identity.Gateway, cfg, nothing, gateway.New)
}

// runner is what a door's New gives.
type runner interface {
	Run(ctx context.Context) error
}

func door[C any, S runner](
	name identity.Name, cfg C,
	migrate func(context.Context, C) error,
	open func(context.Context, C, *telemetry.Telemetry) (S, error),
) service {
	return service{
		name:    name,
		migrate: func(ctx context.Context) error { return migrate(ctx, cfg) },
		open: func(ctx context.Context, tel *telemetry.Telemetry) (func(context.Context) error, error) {
			opened, err := open(ctx, cfg, tel)
			if err != nil {
				return nil, err
			}
			return opened.Run, nil
		},
	}
}

// run starts a migrated service and returns when it is ready.
func (s service) run(ctx context.Context, into *sequence, telemetryOf telemetry.Config, log io.Writer, ready func(context.Context) error) error {
	// What the service opens lives as long as the service, which is longer than its start.
	living := context.WithoutCancel(ctx)
	tel, err := telemetry.New(living, string(s.name), telemetryOf, log)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	run, err := s.open(living, tel)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	untilTold := func(ctx context.Context) error {
		defer tel.Close(ctx)
		return run(ctx)
	}
	return into.start(ctx, daemon.Part{Name: string(s.name), Run: untilTold}, ready)
}
