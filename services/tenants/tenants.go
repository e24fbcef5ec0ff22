// Package tenants is the service for tenants and their settings, brands, teams, custom fields, API keys and webhook endpoints
// (API specification, sections Tenant settings, Key, Brand and Authentication).
//
// It stores the hash of an API key and the sealed signing secret. Both are returned in clear only once, when they are made.
// Changes are published to the edges through Redis (package versions).
package tenants

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/tenants/internal/server"
	"github.com/partnergifting/platform/services/tenants/internal/store"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config
	// Idempotency is of the one POST that stores its response.
	Idempotency idempotency.Config

	Environment     apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; new keys belong to it."`
	SealKeys        string             `env:"SEAL_KEYS,required" secret:"true" doc:"Key ring of sealed columns: id:base64-of-32-bytes, separated by commas; the first is used for new values."`
	BackupRetention time.Duration      `env:"BACKUP_RETENTION" envDefault:"840h" check:"min=0s" doc:"How long backups and the WAL archive are kept. The report of an erasure says when they are deleted; nothing else depends on this setting."`
	AuditRetention  time.Duration      `env:"AUDIT_RETENTION" envDefault:"26280h" check:"min=8784h" doc:"How long the audit of operations is stored."`
	// OffboardingGrace is at least a day: longer than any request, and than readers of changes usually lag.
	OffboardingGrace time.Duration `env:"OFFBOARDING_GRACE" envDefault:"720h" check:"min=24h,max=8760h" doc:"How long an off-boarded tenant is only disabled before it is erased, unless OffboardTenant sets another time."`
	// RedisURL empty: versions are not published.
	RedisURL string `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"Redis to which versions of settings are published for the gateways, such as redis://host:6379; empty: they are not published."`
	Peers    Peers
	// AllowLoopbackWebhooks is refused in production.
	AllowLoopbackWebhooks bool `env:"ALLOW_LOOPBACK_WEBHOOKS" doc:"Accept webhook URLs with plain HTTP and loopback addresses. Never in production."`
}

// ErrLoopbackWebhooks refuses a setting for the local stack in production.
var ErrLoopbackWebhooks = errors.New("loopback webhooks are not allowed in production")

const (
	retentionEvery = time.Hour
	// retentionBatch bounds how long one transaction holds its locks.
	retentionBatch = 1000
)

// Service is the running service.
type Service struct {
	tel      *telemetry.Telemetry
	pool     *pgxpool.Pool
	peers    peers
	versions *versions.Publisher
	rpc      *rpc.Server
	keys     *seal.RingCheck
	// check finds out that the database or Redis went back to an earlier state.
	check     daemon.Part
	clock     *daemon.RetentionClock
	retention daemon.Part
	answers   daemon.Part
	erasures  daemon.Part
	offboard  daemon.Part
}

// Migrate brings the database up to date, and writes what it does to out.
func Migrate(ctx context.Context, cfg Config, out io.Writer) error {
	return postgres.Migrate(ctx, cfg.Database, out, daemon.RetentionClockMigrations(), idempotency.Migrations(), store.Migrations())
}

// Compare compares the database with the migrations of this version.
func Compare(ctx context.Context, cfg Config) (postgres.Difference, error) {
	return postgres.Compare(ctx, cfg.Database.URL, daemon.RetentionClockMigrations(), idempotency.Migrations(), store.Migrations())
}

// New opens the service's database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return nil, fmt.Errorf("seal keys: %w", err)
	}
	s := &Service{tel: tel}
	if err := s.open(ctx, cfg, ring); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *Service) open(ctx context.Context, cfg Config, ring *seal.Ring) (err error) {
	if s.versions, err = versions.Open(cfg.RedisURL, s.tel); err != nil {
		return err
	}
	if s.peers, err = cfg.Peers.dial(cfg.RPC.TLS, s.tel); err != nil {
		return err
	}
	if s.pool, err = postgres.OpenObserved(ctx, cfg.Database, s.tel); err != nil {
		return err
	}
	if s.keys, err = seal.NewRingCheck(ctx, s.pool, s.tel, sealKeys(ring)); err != nil {
		return err
	}
	if s.rpc, err = rpc.NewServer(cfg.RPC, s.tel); err != nil {
		return err
	}
	tenants := store.New(s.pool)
	if s.check, err = versions.Check(tenants, s.versions, s.tel); err != nil {
		return err
	}
	if s.clock, err = daemon.NewRetentionClock(s.pool, s.tel); err != nil {
		return err
	}
	s.retention = s.clock.Every("retention", retentionEvery, s.tel, func(ctx context.Context, lag time.Duration) error {
		return deleteOld(ctx, tenants, cfg.AuditRetention, lag)
	})
	s.answers = idempotency.Retention(s.pool, s.clock, cfg.Idempotency, s.tel)
	persons, err := s.openPrivacy(tenants, ring, cfg.BackupRetention)
	if err != nil {
		return err
	}
	if err := s.openOffboarding(tenants); err != nil {
		return err
	}
	server.Register(s.rpc, server.Deps{
		Store: tenants, Versions: s.versions, Ring: ring, Privacy: persons, Holders: s.peers.holders(), Own: store.TenantData(s.pool),
		Currencies: catalogv1.NewCurrenciesServiceClient(s.peers.to(identity.Catalog)), Log: s.tel.Logger, Now: time.Now,
	}, server.Config{Environment: cfg.Environment, LoopbackWebhooks: cfg.AllowLoopbackWebhooks, OffboardingGrace: cfg.OffboardingGrace})
	return nil
}

// Validate implements the check of package settings.
func (c Config) Validate() error {
	var loopback error
	if c.Environment == apikey.Production && c.AllowLoopbackWebhooks {
		loopback = ErrLoopbackWebhooks
	}
	_, keys := seal.ParseRing(c.SealKeys)
	return errors.Join(
		settings.Invalid("ENVIRONMENT", c.Environment.Validate()),
		settings.Invalid("ALLOW_LOOPBACK_WEBHOOKS", loopback),
		settings.Invalid("SEAL_KEYS", keys),
		settings.Invalid("REDIS_URL", redisconn.Check(c.RedisURL)),
	)
}

// Run serves until ctx ends and then closes everything that New opened.
func (s *Service) Run(ctx context.Context) error {
	err := daemon.Run(ctx, s.tel.Logger,
		s.keys.Hold(daemon.Part{Name: "grpc", Run: s.rpc.Run}),
		daemon.Metrics(s.tel, s.keys.Ready, s.rpc.Ready, s.pool.Ping),
		s.keys.Part(),
		s.check,
		s.clock.Part(s.tel),
		s.retention,
		s.answers,
		s.erasures,
		s.offboard,
	)
	return errors.Join(err, s.close())
}

func (s *Service) close() error {
	if s.pool != nil {
		s.pool.Close()
	}
	err := s.peers.close()
	if s.versions == nil {
		return err
	}
	return errors.Join(err, s.versions.Close())
}

// sealKeys says what the ring must open. Reencrypt covers the same columns.
func sealKeys(ring *seal.Ring) seal.CheckedRing {
	return seal.CheckedRingOf(ring, seal.SealedColumns(store.SealedColumns())...)
}

// Reencrypt seals all signing secrets again with the first of the seal keys while the service runs. After success no secret needs
// another key.
func Reencrypt(ctx context.Context, cfg Config, out io.Writer) error {
	if err := seal.ReEncrypt(ctx, cfg.Database, cfg.SealKeys, store.SealedColumns(), out); err != nil {
		return err
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return err
	}
	return seal.CheckReEncrypted(ctx, cfg.Database, sealKeys(ring))
}
