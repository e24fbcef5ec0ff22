// Package catalog is the service for gifts, prices, images, campaigns and stock.
package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/maintenance"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/server"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Config of the service.
type Config struct {
	RPC         rpc.Config
	Cell        identity.Cell
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

// Program describes the command of the service. Only methods of the sandbox store responses in the tables of idempotency.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.Catalog,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg Config) postgres.Config { return cfg.Database },
		Schema:    []postgres.Migrations{daemon.RetentionClockMigrations(), idempotency.Migrations(), store.Migrations()},
		New:       New,
	}
}

// New builds the service and opens its database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*service.Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, RPC: cfg.RPC, Collectors: server.Collectors(), Database: &cfg.Database,
	}, func(s *service.Service) error { return assemble(ctx, s, cfg) })
}

func assemble(ctx context.Context, s *service.Service, cfg Config) error {
	directory, err := s.Dial(identity.Tenants, cfg.TenantsAddr)
	if err != nil {
		return err
	}
	files, err := images.Open(ctx, cfg.ImagesURL)
	if err != nil {
		return err
	}
	s.CloseAtEnd(files)
	uploads := images.NewCheck(files)
	s.Add(uploads.Part(s.Telemetry.Logger))
	s.ReadyIf(uploads.Ready)
	sandbox := cfg.Environment == apikey.Sandbox
	records := store.New(s.Pool, sandbox)
	s.Add(
		maintenance.New(records, s.Clock, cfg.AuditRetention, s.Telemetry),
		idempotency.Retention(s.Pool, s.Clock, cfg.Idempotency, s.Telemetry),
	)
	server.Register(s.Server, server.Deps{
		Store: records, Files: files, Processor: picture.NewProcessor(rules.MaxImageBytes),
		Directory: tenantsv1.NewDirectoryServiceClient(directory),
	}, server.Config{PublicURL: cfg.PublicURL, ReservationTTL: cfg.ReservationTTL, Sandbox: sandbox, Cell: cfg.Cell})
	privacyv1.RegisterTenantDataServiceServer(s.Server, &tenants.ExportServer{Database: store.TenantData(s.Pool)})
	return observe(records, s.Telemetry)
}

// observe registers the metrics of units whose reservation is neither confirmed nor released.
func observe(records *store.Store, tel *telemetry.Telemetry) error {
	sample := telemetry.NewSample(records.Outstanding, time.Now, tel.Logger)
	meter := tel.Meters.Meter("github.com/partnergifting/platform/services/catalog")
	units, errUnits := meter.Int64ObservableGauge("gifting.catalog.reservations.outstanding",
		metric.WithDescription("Units whose reservation is open. That of an order is confirmed after its expiry."))
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
