// Package orders is the service for orders. It places them, keeps their delivery details sealed and records every change for
// the feed. It reads settings from tenants, and gifts and stock from catalog.
package orders

import (
	"context"
	"errors"
	"io"
	"time"
	_ "time/tzdata" // Opening hours need time zones, which the machine may not have.

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/sandboxpace"
	"github.com/partnergifting/platform/pkg/seal"
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

// Service is the running service.
type Service struct {
	cfg          Config
	tel          *telemetry.Telemetry
	pool         *pgxpool.Pool
	registerPool *pgxpool.Pool
	conns        []*grpc.ClientConn
	rpc          *rpc.Server
	keys         *seal.RingCheck
	reservations *reservations.Reconciler
	answers      daemon.Part
	clock        *daemon.RetentionClock
	retention    *retention.Retention
	waker        *outbox.Waker
	sandbox      []daemon.Part // Empty in production.
}

// Migrate brings the service's database up to date.
func Migrate(ctx context.Context, cfg Config, out io.Writer) error {
	return postgres.Migrate(ctx, cfg.Database, out, schema()...)
}

// Compare compares the database with the migrations of this version.
func Compare(ctx context.Context, cfg Config) (postgres.Difference, error) {
	return postgres.Compare(ctx, cfg.Database.URL, schema()...)
}

// schema lists the migrations of the service's database.
func schema() []postgres.Migrations {
	return []postgres.Migrations{outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations(), store.Migrations()}
}

// New builds the service. It opens the database and fails if that cannot be reached.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, tel: tel}
	if err := s.assemble(ctx); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

func (s *Service) assemble(ctx context.Context) error {
	cfg := s.cfg
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return err
	}
	hours, err := rules.ParseOpeningHours(cfg.OpeningHours, cfg.OpeningZone)
	if err != nil {
		return err
	}
	tenantsConn, err := s.dial(identity.Tenants, cfg.TenantsAddr)
	if err != nil {
		return err
	}
	catalogConn, err := s.dial(identity.Catalog, cfg.CatalogAddr)
	if err != nil {
		return err
	}
	if s.pool, err = postgres.OpenObserved(ctx, cfg.Database, s.tel); err != nil {
		return err
	}
	if err := s.openRegister(ctx); err != nil {
		return err
	}
	eventKeys, err := cfg.EventKeys.Parse()
	if err != nil {
		return err
	}
	if s.keys, err = seal.NewRingCheck(ctx, s.pool, s.tel, sealKeys(ring), seal.CheckedEventRing(eventKeys, outbox.Sealed())); err != nil {
		return err
	}
	orders, catalog := store.New(s.pool, ring, seal.NewEventWriter(eventKeys)), catalogv1.NewOrderingServiceClient(catalogConn)
	if s.clock, err = daemon.NewRetentionClock(s.pool, s.tel); err != nil {
		return err
	}
	s.retention, err = retention.New(
		retention.Deps{Store: orders}, retention.Config{Details: cfg.DetailsRetention, Open: cfg.OpenRetention, Audit: cfg.AuditRetention},
	)
	if err != nil {
		return err
	}
	s.reservations = reservations.New(reservations.Deps{Store: orders, Catalog: catalog, Log: s.tel.Logger})
	s.answers = idempotency.Retention(s.pool, s.clock, cfg.Idempotency, s.tel)
	s.waker = outbox.NewWaker(s.pool, s.tel.Logger)
	if s.rpc, err = rpc.NewServer(cfg.RPC, s.tel, server.Collectors()...); err != nil {
		return err
	}
	s.rpc.Intercept(s.waker.Intercept)
	s.serve(server.Deps{
		Store:        orders,
		Tenants:      tenants.NewCache(tenantsv1.NewDirectoryServiceClient(tenantsConn)),
		Catalog:      catalog,
		Reservations: s.reservations,
		Clock:        time.Now,
	}, server.Config{Hours: hours, OperatorName: cfg.OperatorName, Sandbox: cfg.Environment == apikey.Sandbox})
	privacyv1.RegisterTenantDataServiceServer(s.rpc, &tenants.ExportServer{Database: store.TenantData(s.pool, ring)})
	return nil
}

// serve makes the server, and in the sandbox also what lets orders go on by themselves.
func (s *Service) serve(deps server.Deps, cfg server.Config) {
	if !cfg.Sandbox {
		s.register(server.New(deps, cfg))
		return
	}
	paces := &pace.Runner{Store: deps.Store, Changed: s.waker.Wake, Log: s.tel.Logger}
	loop := sandboxpace.NewLoop("sandbox paces", s.tel.Logger, paces.Run)
	deps.WakeAutoAdvance = loop.Wake
	srv := server.New(deps, cfg)
	paces.Advance = srv.Advance
	s.sandbox = []daemon.Part{loop.Part()}
	s.register(srv)
	ordersv1.RegisterSandboxOrdersServiceServer(s.rpc, srv)
}

func (s *Service) openRegister(ctx context.Context) (err error) {
	cfg := s.cfg.Database
	cfg.MaxConns = s.cfg.Register.MaxConns
	s.registerPool, err = postgres.OpenNamed(ctx, s.tel.Service+" register", cfg, s.tel)
	return err
}

func (s *Service) register(srv *server.Server) {
	commonv1.RegisterIdempotencyRegisterServiceServer(s.rpc, idempotency.NewRegister(s.registerPool, s.cfg.Register))
	ordersv1.RegisterOrdersServiceServer(s.rpc, srv)
	ordersv1.RegisterOrderOperationsServiceServer(s.rpc, srv)
	ordersv1.RegisterClaimsServiceServer(s.rpc, srv)
	privacyv1.RegisterPersonalDataServiceServer(s.rpc, srv)
}

func (s *Service) dial(service identity.Name, addr string) (*grpc.ClientConn, error) {
	conn, err := rpc.Dial(rpc.Target{Service: service, Addr: addr, TLS: s.cfg.RPC.TLS}, s.tel)
	if err == nil {
		s.conns = append(s.conns, conn)
	}
	return conn, err
}

// Run serves until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer s.close(ctx)
	parts := append(s.sandbox,
		s.keys.Hold(daemon.Part{Name: "grpc", Run: s.rpc.Run}),
		daemon.Metrics(s.tel, s.keys.Ready, s.rpc.Ready, s.pool.Ping),
		s.keys.Part(),
		daemon.Every("reservations", s.cfg.RecoveryInterval, s.tel, s.reservations.Reconcile),
		s.clock.Part(s.tel),
		s.clock.Every("reservation outcomes", time.Hour, s.tel, s.reservations.DeleteOutcomes),
		s.answers,
		s.clock.Every("retention", time.Hour, s.tel, s.retention.Sweep),
		daemon.Part{Name: "waker", Run: s.waker.Run, Last: true},
	)
	return daemon.Run(ctx, s.tel.Logger, parts...)
}

func (s *Service) close(ctx context.Context) {
	for _, pool := range []*pgxpool.Pool{s.pool, s.registerPool} {
		if pool != nil {
			pool.Close()
		}
	}
	for _, conn := range s.conns {
		if err := conn.Close(); err != nil {
			s.tel.Logger.WarnContext(ctx, "close connection", "error", err)
		}
	}
}

// sealKeys says what the ring must open. Reencrypt covers the same columns.
func sealKeys(ring *seal.Ring) seal.CheckedRing {
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
	return seal.CheckReEncrypted(ctx, cfg.Database, sealKeys(ring))
}
