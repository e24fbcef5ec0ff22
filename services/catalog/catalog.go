// Package catalog is the service of gifts, prices, images, campaigns and stock. It is the module's
// only door.
package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/server"
	"github.com/partnergifting/platform/services/catalog/internal/store"
	"github.com/partnergifting/platform/services/catalog/internal/upkeep"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config
	// TenantsAddr of the tenants service.
	TenantsAddr string `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a name of which DNS knows all instances, or the instances."`
	// ImagesURL such as file:///var/lib/gifting/images?create_dir=true&no_tmp_dir=true&metadata=skip
	// or s3://gifting-images?region=eu-north-1; package images has more of them.
	ImagesURL string `env:"IMAGES_URL,required" check:"url=file|s3" doc:"Where image files are kept: file:///... or s3://bucket?region=...; credentials as for the AWS SDK."`
	// PublicURL is what image URLs start with.
	PublicURL string `env:"PUBLIC_URL,required" check:"web" doc:"Base address of the public API as integrators see it."`
	// ReservationTTL zero: half a minute. With the interval at which orders settles what has expired it
	// bounds how long a crash can hold a unit back.
	ReservationTTL time.Duration `env:"RESERVATION_TTL" envDefault:"30s" check:"min=5s" doc:"How long reserved stock waits for its order."`
	// AuditRetention zero: three years.
	AuditRetention time.Duration `env:"AUDIT_RETENTION" envDefault:"26280h" check:"min=8784h" doc:"How long the audit of operations is kept."`
}

const defaultReservationTTL = 30 * time.Second

// Migrate brings the service's database up to date.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Database.URL, schema()...)
}

// Pending lists the migrations that Migrate would run.
func Pending(ctx context.Context, cfg Config) ([]string, error) {
	return postgres.Pending(ctx, cfg.Database.URL, schema()...)
}

// schema is what the service's database is made of.
func schema() []postgres.Migrations {
	return []postgres.Migrations{store.Migrations()}
}

// Service is the running catalog.
type Service struct {
	tel     *telemetry.Telemetry
	pool    *pgxpool.Pool
	tenants *grpc.ClientConn
	files   *images.Files
	server  *rpc.Server
	upkeep  *upkeep.Worker
}

// New opens what the service needs. Run closes it.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if cfg.AuditRetention > 0 && cfg.AuditRetention < upkeep.MinAudit {
		return nil, upkeep.ErrAudit
	}
	s := &Service{tel: tel}
	if err := s.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.close())
	}
	ttl := cfg.ReservationTTL
	if ttl <= 0 {
		ttl = defaultReservationTTL
	}
	st := store.New(s.pool)
	if err := s.observe(st); err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.upkeep = &upkeep.Worker{Store: st, Audit: cfg.AuditRetention, Log: tel.Logger}
	directory := tenantsv1.NewDirectoryServiceClient(s.tenants)
	processor := picture.NewProcessor()
	var err error
	if s.server, err = rpc.NewServer(cfg.RPC, tel, server.Collectors()...); err != nil {
		return nil, errors.Join(err, s.close())
	}
	catalogv1.RegisterCatalogServiceServer(s.server, server.NewCatalog(st, tenantcache.New(directory), cfg.PublicURL))
	catalogv1.RegisterImagesServiceServer(s.server, server.NewImages(st, s.files))
	catalogv1.RegisterOrderingServiceServer(s.server, server.NewOrdering(st, ttl))
	catalogv1.RegisterSelectionsServiceServer(s.server, server.NewSelections(st, cfg.PublicURL))
	catalogv1.RegisterBrandLogosServiceServer(s.server, server.NewBrandLogos(st, s.files, processor, directory, cfg.PublicURL))
	catalogv1.RegisterImportServiceServer(s.server, server.NewImports(st))
	catalogv1.RegisterCatalogOperationsServiceServer(s.server, server.NewOperations(st, s.files, processor, directory))
	catalogv1.RegisterProductOperationsServiceServer(s.server, server.NewProductOperations(st))
	catalogv1.RegisterCampaignOperationsServiceServer(s.server, server.NewCampaignOperations(st))
	return s, nil
}

func (s *Service) open(ctx context.Context, cfg Config) (err error) {
	if s.pool, err = postgres.OpenObserved(ctx, cfg.Database, s.tel); err != nil {
		return err
	}
	if s.files, err = images.Open(ctx, cfg.ImagesURL); err != nil {
		return err
	}
	s.tenants, err = rpc.Dial(rpc.Target{Service: identity.Tenants, Addr: cfg.TenantsAddr, TLS: cfg.RPC.TLS}, s.tel)
	return err
}

// Run serves until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	err := daemon.Run(ctx, s.tel.Logger,
		daemon.Part{Name: "grpc", Run: s.server.Run},
		daemon.Part{Name: "upkeep", Run: s.upkeep.Run},
		daemon.Metrics(s.tel, s.server.Ready, s.pool.Ping),
	)
	return errors.Join(err, s.close())
}

func (s *Service) close() error {
	var faults []error
	if s.tenants != nil {
		faults = append(faults, s.tenants.Close())
	}
	if s.files != nil {
		faults = append(faults, s.files.Close())
	}
	if s.pool != nil {
		s.pool.Close()
	}
	return errors.Join(faults...)
}
