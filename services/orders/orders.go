// Package orders is the service for orders. It places them, keeps their delivery details sealed and records every change for
// the feed. It reads settings from tenants, and gifts and stock from catalog.
package orders

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
	_ "time/tzdata" // Opening hours need time zones, which the machine may not have.

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/sandboxpace"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/pace"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/retention"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/server"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// Config of the service.
type Config struct {
	RPC         rpc.Config
	Cell        identity.Cell
	Database    postgres.Config
	Telemetry   telemetry.Config
	Environment apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; only sandbox has the operations below /sandbox."`
	TenantsAddr string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a DNS name of all instances, or their addresses."`
	CatalogAddr string             `env:"CATALOG_ADDR,required" check:"hostports" doc:"The catalog service: a DNS name of all instances, or their addresses."`
	// The command reconcile compares the orders with what these services hold. The service itself does not call them.
	PersonalLinksAddr string `env:"PERSONAL_LINKS_ADDR" check:"hostports" doc:"The personal-links service, for the command reconcile: a DNS name of all instances, or their addresses."`
	EventsAddr        string `env:"EVENTS_ADDR" check:"hostports" doc:"The events service, for the command reconcile: a DNS name of all instances, or their addresses."`
	SealKeys          string `env:"SEAL_KEYS,required" secret:"true" doc:"Key ring of sealed columns: id:base64-of-32-bytes, separated by commas; the first is used for new values."`
	EventKeys         seal.EventKeys
	OpeningHours      string `env:"OPENING_HOURS" envDefault:"Mon-Fri 09:00-17:00" doc:"The operator's weekly opening hours."`
	OpeningZone       string `env:"OPENING_ZONE" envDefault:"UTC" check:"zone" doc:"Time zone of the opening hours, such as Europe/Stockholm."`
	Idempotency       idempotency.Config
	Register          idempotency.RegisterConfig
	OperatorName      string        `env:"OPERATOR_NAME" envDefault:"Partner Gifting" doc:"Name under which the operator's messages are shown."`
	DetailsRetention  time.Duration `env:"DETAILS_RETENTION" envDefault:"2160h" check:"min=1h" doc:"How long delivery details are stored after completion or cancellation; then they are erased."`
	OpenRetention     time.Duration `env:"OPEN_RETENTION" envDefault:"8760h" check:"min=24h" doc:"How long an order may be open without a change or message. Then its delivery details are erased, and it is cancelled unless it was sent."`
	AuditRetention    time.Duration `env:"AUDIT_RETENTION" envDefault:"26280h" check:"min=8784h" doc:"How long the audit of operations is stored."`
	RecoveryInterval  time.Duration `env:"RECOVERY_INTERVAL" envDefault:"10s" check:"min=100ms" doc:"How often expired stock reservations are confirmed or released."`
}

// Validate implements the check of package settings.
func (c Config) Validate() error {
	_, keys := seal.ParseRing(c.SealKeys)
	_, hours := rules.ParseOpeningHours(c.OpeningHours, "UTC") // The zone has its own rule.
	return errors.Join(settings.Invalid("SEAL_KEYS", keys), settings.Invalid("OPENING_HOURS", hours))
}

// Program describes the command of the service.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.Orders,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg Config) postgres.Config { return cfg.Database },
		Schema: []postgres.Migrations{
			outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations(),
		},
		New: New,
		Tasks: []service.Task[Config]{
			{Name: "re-encrypt", Short: "re-encrypt all delivery details and messages under the first of the seal keys", Run: Reencrypt},
			{Name: "reconcile", Short: reconcileShort, RunWith: func(ctx context.Context, cfg Config, args []string, out io.Writer) error {
				return Reconcile(ctx, cfg, args, out, os.Stderr)
			}},
		},
	}
}

// New builds the service and opens its database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*service.Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return nil, err
	}
	eventKeys, err := cfg.EventKeys.Parse()
	if err != nil {
		return nil, err
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, RPC: cfg.RPC, Collectors: server.Collectors(), Database: &cfg.Database, Outbox: true,
		KeyRings: []seal.CheckedRing{checkedRing(ring), seal.CheckedEventRing(eventKeys, outbox.Sealed())},
	}, func(s *service.Service) error { return assemble(ctx, s, cfg, ring, seal.NewEventWriter(eventKeys)) })
}

func assemble(ctx context.Context, s *service.Service, cfg Config, ring *seal.Ring, events *seal.EventWriter) error {
	hours, err := rules.ParseOpeningHours(cfg.OpeningHours, cfg.OpeningZone)
	if err != nil {
		return err
	}
	directory, err := s.Dial(identity.Tenants, cfg.TenantsAddr)
	if err != nil {
		return err
	}
	catalogConn, err := s.Dial(identity.Catalog, cfg.CatalogAddr)
	if err != nil {
		return err
	}
	orders, catalog := store.New(s.Pool, ring, events), catalogv1.NewOrderingServiceClient(catalogConn)
	reconciler := reservations.New(reservations.Deps{Store: orders, Catalog: catalog, Log: s.Telemetry.Logger})
	addPeriodicWork(s, cfg, orders, reconciler)
	deps := server.Deps{
		Store: orders, Tenants: tenants.NewCache(tenantsv1.NewDirectoryServiceClient(directory), cfg.Cell), Catalog: catalog,
		Reservations: reconciler, Clock: time.Now,
	}
	serving := server.Config{Cell: cfg.Cell, Hours: hours, OperatorName: cfg.OperatorName, Sandbox: cfg.Environment == apikey.Sandbox}
	var srv *server.Server
	if serving.Sandbox {
		srv = sandboxServer(s, deps, serving)
	} else {
		srv = server.New(deps, serving)
	}
	ordersv1.RegisterOrdersServiceServer(s.Server, srv)
	ordersv1.RegisterOrderOperationsServiceServer(s.Server, srv)
	ordersv1.RegisterClaimsServiceServer(s.Server, srv)
	privacyv1.RegisterPersonalDataServiceServer(s.Server, srv)
	privacyv1.RegisterTenantDataServiceServer(s.Server, &tenants.ExportServer{Database: store.TenantData(s.Pool, ring)})
	return registerIdempotencyRegister(ctx, s, cfg)
}

// addPeriodicWork adds what reconciles reservations, and what erases and deletes by age.
func addPeriodicWork(s *service.Service, cfg Config, orders *store.Store, reconciler *reservations.Reconciler) {
	erasing := retention.New(orders, retention.Config{
		Details: cfg.DetailsRetention, Open: cfg.OpenRetention, Audit: cfg.AuditRetention,
	})
	s.Add(
		daemon.Every("reservations", cfg.RecoveryInterval, s.Telemetry, reconciler.Reconcile),
		s.Clock.Every("reservation outcomes", time.Hour, s.Telemetry, reconciler.DeleteOutcomes),
		s.Clock.Every("retention", time.Hour, s.Telemetry, erasing.Sweep),
		idempotency.Retention(s.Pool, s.Clock, cfg.Idempotency, s.Telemetry),
	)
}

// sandboxServer returns a server whose orders may advance by themselves, and registers the operations of the sandbox.
func sandboxServer(s *service.Service, deps server.Deps, cfg server.Config) *server.Server {
	loop := sandboxpace.NewLoop("sandbox paces", s.Telemetry.Logger)
	deps.WakeAutoAdvance = loop.Wake
	srv := server.New(deps, cfg)
	paces := &pace.Runner{Store: deps.Store, Advance: srv.Advance, Changed: s.Waker.Wake, Log: s.Telemetry.Logger}
	s.Add(loop.Part(paces.Run))
	ordersv1.RegisterSandboxOrdersServiceServer(s.Server, srv)
	return srv
}

// registerIdempotencyRegister serves the register of idempotency keys from connections of its own: all services wait for it, so it
// must not wait for connections that orders use.
func registerIdempotencyRegister(ctx context.Context, s *service.Service, cfg Config) error {
	database := cfg.Database
	database.MaxConns = cfg.Register.MaxConns
	pool, err := postgres.OpenNamed(ctx, s.Telemetry.Service+" register", database, s.Telemetry)
	if err != nil {
		return err
	}
	s.AtEnd(pool.Close)
	commonv1.RegisterIdempotencyRegisterServiceServer(s.Server, idempotency.NewRegister(pool, cfg.Register))
	return nil
}

// checkedRing says which values the ring must open. Reencrypt covers the same columns.
func checkedRing(ring *seal.Ring) seal.CheckedRing {
	var values []seal.SealedValues
	for _, table := range store.SealedColumns() {
		values = append(values, seal.SealedColumns(table)...)
	}
	return seal.CheckedRingOf(ring, values...)
}

// Reencrypt seals all delivery details and messages again with the first of the seal keys while the service runs. After success no
// order needs another key.
func Reencrypt(ctx context.Context, cfg Config, out io.Writer) error {
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return err
	}
	for _, table := range store.SealedColumns() {
		if err := seal.ReEncrypt(ctx, cfg.Database, cfg.SealKeys, table, out); err != nil {
			return err
		}
	}
	return seal.CheckReEncrypted(ctx, cfg.Database, checkedRing(ring))
}
