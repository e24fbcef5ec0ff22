// Package catalog is the service for gifts, prices, images, campaigns and stock.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/maintenance"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/server"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Config of the service.
type Config struct {
	RPC         rpc.Config
	Database    postgres.Config
	Telemetry   telemetry.Config
	Environment apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; only sandbox has the operations below /sandbox."`
	// TenantsAddr is the address of the tenants service.
	TenantsAddr string `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a DNS name of all instances, or their addresses."`
	// ImagesURL is explained in package images.
	ImagesURL string `env:"IMAGES_URL,required" check:"url=file|s3" doc:"Where image files are stored: file:///folder or s3://bucket?region=...; credentials as for the AWS SDK. The catalog is ready only after it has written a small file there."`
	// PublicURL is what image URLs start with.
	PublicURL string `env:"PUBLIC_URL,required" check:"web" doc:"Base address of the public API as integrators see it."`
	// After a crash a unit is reserved for at most ReservationTTL plus the interval at which orders reconciles expired
	// reservations.
	ReservationTTL time.Duration `env:"RESERVATION_TTL" envDefault:"30s" check:"min=5s" doc:"How long a reservation holds stock for its order."`
	Idempotency    idempotency.Config
	AuditRetention time.Duration `env:"AUDIT_RETENTION" envDefault:"26280h" check:"min=8784h" doc:"How long the audit of operations is stored."`
}

// Migrate brings the service's database up to date.
func Migrate(ctx context.Context, cfg Config, out io.Writer) error {
	return postgres.Migrate(ctx, cfg.Database, out, schema()...)
}

// Compare compares the database with the migrations of this version.
func Compare(ctx context.Context, cfg Config) (postgres.Difference, error) {
	return postgres.Compare(ctx, cfg.Database.URL, schema()...)
}

// schema lists the migrations of the service's database. Only the sandbox stores responses.
func schema() []postgres.Migrations {
	return []postgres.Migrations{daemon.RetentionClockMigrations(), idempotency.Migrations(), store.Migrations()}
}

// Service is the running catalog.
type Service struct {
	tel         *telemetry.Telemetry
	pool        *pgxpool.Pool
	tenants     *grpc.ClientConn
	files       *images.Files
	uploads     *images.Check
	server      *rpc.Server
	clock       *daemon.RetentionClock
	maintenance daemon.Part
	answers     daemon.Part
}

// New opens the service's database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	s := &Service{tel: tel}
	if err := s.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *Service) open(ctx context.Context, cfg Config) (err error) {
	if s.pool, err = postgres.OpenObserved(ctx, cfg.Database, s.tel); err != nil {
		return err
	}
	if s.files, err = images.Open(ctx, cfg.ImagesURL); err != nil {
		return err
	}
	s.uploads = images.NewCheck(s.files)
	if s.tenants, err = rpc.Dial(rpc.Target{Service: identity.Tenants, Addr: cfg.TenantsAddr, TLS: cfg.RPC.TLS}, s.tel); err != nil {
		return err
	}
	records, sandbox := store.New(s.pool), cfg.Environment == apikey.Sandbox
	if sandbox {
		records = store.NewSandbox(s.pool)
	}
	if s.clock, err = daemon.NewRetentionClock(s.pool, s.tel); err != nil {
		return err
	}
	if s.maintenance, err = maintenance.New(records, s.clock, cfg.AuditRetention, s.tel); err != nil {
		return err
	}
	s.answers = idempotency.Retention(s.pool, s.clock, cfg.Idempotency, s.tel)
	if s.server, err = rpc.NewServer(cfg.RPC, s.tel, server.Collectors()...); err != nil {
		return err
	}
	server.Register(s.server, server.Deps{
		Store: records, Files: s.files, Processor: picture.NewProcessor(), Directory: tenantsv1.NewDirectoryServiceClient(s.tenants),
	}, server.Config{PublicURL: cfg.PublicURL, ReservationTTL: cfg.ReservationTTL, Sandbox: sandbox})
	privacyv1.RegisterTenantDataServiceServer(s.server, &tenants.ExportServer{Database: store.TenantData(s.pool)})
	return observe(records, s.tel)
}

// Run serves until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	err := daemon.Run(ctx, s.tel.Logger,
		daemon.Part{Name: "grpc", Run: s.server.Run},
		s.clock.Part(s.tel),
		s.maintenance,
		s.answers,
		s.uploads.Part(s.tel.Logger),
		daemon.Metrics(s.tel, s.server.Ready, s.pool.Ping, s.uploads.Ready),
	)
	return errors.Join(err, s.close())
}

func (s *Service) close() error {
	var errs []error
	if s.tenants != nil {
		errs = append(errs, s.tenants.Close())
	}
	if s.files != nil {
		errs = append(errs, s.files.Close())
	}
	if s.pool != nil {
		s.pool.Close()
	}
	return errors.Join(errs...)
}

// observe registers the metrics of units held for orders about to commit.
func observe(records *store.Store, tel *telemetry.Telemetry) error {
	sample := telemetry.NewSample(records.Outstanding, time.Now, tel.Logger)
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/catalog")
	units, errUnits := meter.Int64ObservableGauge("gifting.catalog.reservations.outstanding",
		metric.WithDescription("Units held for orders about to commit."))
	overdue, errOverdue := meter.Float64ObservableGauge("gifting.catalog.reservations.overdue_age", metric.WithUnit("s"),
		metric.WithDescription("Time since the expiry of the oldest held unit."))
	_, errCallback := meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		if held, ok := sample.Get(ctx); ok {
			o.ObserveInt64(units, held.Units)
			o.ObserveFloat64(overdue, held.Overdue.Seconds())
		}
		return nil
	}, units, overdue)
	if err := errors.Join(errUnits, errOverdue, errCallback); err != nil {
		return fmt.Errorf("metrics of the catalog: %w", err)
	}
	return nil
}
