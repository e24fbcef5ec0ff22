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

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/tenants/internal/moves"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/server"
	"github.com/partnergifting/platform/services/tenants/internal/store"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config
	// Idempotency configures the stored response of RotateOwnWebhookSecret, the only POST of this service.
	Idempotency idempotency.Config

	Environment     apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; new keys belong to it."`
	SealKeys        string             `env:"SEAL_KEYS,required" secret:"true" doc:"Key ring of sealed columns: id:base64-of-32-bytes, separated by commas; the first is used for new values."`
	BackupRetention time.Duration      `env:"BACKUP_RETENTION" envDefault:"840h" check:"min=0s" doc:"How long backups and the WAL archive are kept. The report of an erasure says when they are deleted; nothing else depends on this setting."`
	AuditRetention  time.Duration      `env:"AUDIT_RETENTION" envDefault:"26280h" check:"min=8784h" doc:"How long the audit of operations is stored."`
	// OffboardingGrace is at least a day: longer than any request, and than readers of changes usually lag.
	OffboardingGrace time.Duration `env:"OFFBOARDING_GRACE" envDefault:"720h" check:"min=24h,max=8760h" doc:"How long an off-boarded tenant is only disabled before it is erased, unless OffboardTenant sets another time."`
	// RedisURL empty: versions are not published.
	RedisURL      string `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"Redis to which versions of settings are published for the gateways, such as redis://host:6379; empty: they are not published."`
	Peers         Peers
	CellDatabases []string `env:"CELL_DATABASES" secret:"true" doc:"URLs of the databases of each cell, to move tenants between cells and to copy gifts to them: a=postgres://…/{database},b=postgres://…/{database}, where {database} is catalog, orders, links, events or webhook, or single ones as b/orders=postgres://…. Empty: there is one cell, or no tenant moves."`
	// AllowLoopbackWebhooks is refused in production.
	AllowLoopbackWebhooks bool `env:"ALLOW_LOOPBACK_WEBHOOKS" doc:"Accept webhook URLs with plain HTTP and loopback addresses. Never in production."`
}

// moverLease is the class of the advisory lock by which one instance moves tenants.
const moverLease = 0x6d6f7665

// ErrLoopbackWebhooks refuses a setting for the local stack in production.
var ErrLoopbackWebhooks = errors.New("loopback webhooks are not allowed in production")

const (
	retentionEvery = time.Hour
	// retentionBatch bounds how long one transaction holds its locks.
	retentionBatch = 1000
)

// Validate implements the check of package settings.
func (c Config) Validate() error {
	var loopback error
	if c.Environment == apikey.Production && c.AllowLoopbackWebhooks {
		loopback = ErrLoopbackWebhooks
	}
	_, keys := seal.ParseRing(c.SealKeys)
	_, databases := moves.ParseDatabases(c.CellDatabases)
	return errors.Join(
		settings.Invalid("CELL_DATABASES", databases),
		settings.Invalid("ENVIRONMENT", c.Environment.Validate()),
		settings.Invalid("ALLOW_LOOPBACK_WEBHOOKS", loopback),
		settings.Invalid("SEAL_KEYS", keys),
		settings.Invalid("REDIS_URL", redisconn.Check(c.RedisURL)),
	)
}

// Program describes the command of the service.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.Tenants,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg Config) postgres.Config { return cfg.Database },
		Schema:    []postgres.Migrations{daemon.RetentionClockMigrations(), idempotency.Migrations(), store.Migrations()},
		New:       New,
		Tasks: []service.Task[Config]{
			{
				Name: "re-encrypt", Run: Reencrypt,
				Short: "re-encrypt all signing secrets and recipients of erasures under the first of the seal keys",
			},
		},
	}
}

// New builds the service and opens its database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*service.Service, error) {
	if err := errors.Join(settings.Defaults(&cfg), cfg.Validate()); err != nil {
		return nil, err
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return nil, fmt.Errorf("seal keys: %w", err)
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, RPC: cfg.RPC, Collectors: server.Collectors(), Database: &cfg.Database,
		KeyRings: []seal.CheckedRing{sealKeys(ring)},
	}, func(s *service.Service) error { return assemble(s, cfg, ring) })
}

func assemble(s *service.Service, cfg Config, ring *seal.Ring) error {
	publisher, err := versions.Open(cfg.RedisURL, s.Telemetry)
	if err != nil {
		return err
	}
	s.CloseAtEnd(publisher)
	tenants := store.New(s.Pool)
	check, err := versions.Check(tenants, publisher, s.Telemetry)
	if err != nil {
		return err
	}
	cells := s.NewCells(tenants.OtherCells)
	peers, err := cfg.Peers.dial(cells)
	if err != nil {
		return err
	}
	persons, err := addErasures(s, peers, tenants, ring, cfg.BackupRetention)
	if err != nil {
		return err
	}
	offboardings, err := offboarding.New(offboarding.Deps{
		Store: tenants, Own: store.TenantData(s.Pool), Holders: peers.holdersOfAll(tenants), Log: s.Telemetry.Logger,
	}, s.Telemetry)
	if err != nil {
		return err
	}
	databases, err := moves.ParseDatabases(cfg.CellDatabases)
	if err != nil {
		return err
	}
	mover, err := moves.New(moves.Deps{
		Store: tenants, Publisher: publisher, Databases: databases, Log: s.Telemetry.Logger,
		Leases: postgres.Leases{URL: cfg.Database.URL, Class: moverLease, Log: s.Telemetry.Logger},
	}, s.Telemetry)
	if err != nil {
		return err
	}
	s.Add(mover.Parts(s.Telemetry)...)
	s.Add(
		check, // It finds out that the database or Redis went back to an earlier state.
		offboardings.Part(s.Clock, s.Telemetry),
		idempotency.Retention(s.Pool, s.Clock, cfg.Idempotency, s.Telemetry),
		s.Clock.Every("retention", retentionEvery, s.Telemetry, func(ctx context.Context, lag time.Duration) error {
			return deleteOld(ctx, tenants, cfg.AuditRetention, lag)
		}),
	)
	server.Register(s.Server, server.Deps{
		Store: tenants, Versions: publisher, Moves: mover, Ring: ring, Privacy: persons,
		Holders: peers.holders(""), Own: store.TenantData(s.Pool),
		Currencies: catalogv1.NewCurrenciesServiceClient(peers.to(identity.Catalog)), Log: s.Telemetry.Logger, Now: time.Now,
	}, server.Config{
		Environment: cfg.Environment, LoopbackWebhooks: cfg.AllowLoopbackWebhooks, OffboardingGrace: cfg.OffboardingGrace,
	})
	return nil
}

// deleteOld deletes audits and requests for persons after the retention of audits, and signing secrets that no longer sign.
func deleteOld(ctx context.Context, tenants *store.Store, auditRetention, lag time.Duration) error {
	var failed []error
	for rows, retention := range map[store.Old]time.Duration{
		store.OldAudit: auditRetention + lag, store.OldPersonRequests: auditRetention + lag, store.OldSigning: lag,
	} {
		failed = append(failed, daemon.InBatches(ctx, retentionBatch, func(ctx context.Context, limit int) (int, error) {
			return tenants.Delete(ctx, rows, retention, limit)
		}))
	}
	return errors.Join(failed...)
}

// sealKeys says what the ring must open. Reencrypt covers the same columns.
func sealKeys(ring *seal.Ring) seal.CheckedRing {
	var values []seal.SealedValues
	for _, table := range store.SealedColumns() {
		values = append(values, seal.SealedColumns(table)...)
	}
	return seal.CheckedRingOf(ring, values...)
}

// Reencrypt seals all signing secrets, and the recipients of pending erasures, again with the first of the seal keys while the
// service runs. After success none of them needs another key.
func Reencrypt(ctx context.Context, cfg Config, out io.Writer) error {
	for _, table := range store.SealedColumns() {
		if err := seal.ReEncrypt(ctx, cfg.Database, cfg.SealKeys, table, out); err != nil {
			return err
		}
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return err
	}
	return seal.CheckReEncrypted(ctx, cfg.Database, sealKeys(ring))
}
