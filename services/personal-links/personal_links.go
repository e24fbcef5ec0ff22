// Package personallinks is the door of the personal-links service: links a tenant passes to its
// players, who choose a gift and say where it goes (API specification, section Personal link). It
// asks tenants for settings, catalog for gifts, and orders to place what a player claims.
package personallinks

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/server"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config

	TenantsAddr string `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a name of which DNS knows all instances, or the instances."`
	CatalogAddr string `env:"CATALOG_ADDR,required" check:"hostports" doc:"The catalog service: a name of which DNS knows all instances, or the instances."`
	OrdersAddr  string `env:"ORDERS_ADDR,required" check:"hostports" doc:"The orders service: a name of which DNS knows all instances, or the instances."`
	SealKeys    string `env:"SEAL_KEYS,required" secret:"true" doc:"Key ring of sealed columns: id:base64-of-32-bytes, separated by commas; the first is used for new values."`
	// ClaimURL and a token make the claimUrl of a link; links keep the one they were made with.
	ClaimURL    string `env:"CLAIM_URL,required" check:"web" doc:"Address of the gift site in front of a token, such as https://gifts.example.com/c."`
	Idempotency idempotency.Config
	// DetailsRetention counts from the claim or the cancellation.
	DetailsRetention time.Duration `env:"DETAILS_RETENTION" envDefault:"2160h" check:"min=1h" doc:"How long label, message, e-mail and answers of an ended link are kept."`
	// RecoveryInterval is how often claims that a crash left behind are looked for.
	RecoveryInterval time.Duration `env:"RECOVERY_INTERVAL" envDefault:"5s" check:"min=100ms" doc:"How often unfinished claims are reconciled."`
}

// Validate implements the check of package settings.
func (c Config) Validate() error {
	_, err := seal.ParseRing(c.SealKeys)
	return settings.Invalid("SEAL_KEYS", err)
}

const (
	defaultDetailsRetention = 90 * 24 * time.Hour
	defaultRecoveryInterval = 5 * time.Second
)

var errClaimURL = errors.New("the claim URL must be an http or https address without query and fragment")

// Service is the running service.
type Service struct {
	tel       *telemetry.Telemetry
	pool      *pgxpool.Pool
	conns     []*grpc.ClientConn
	rpc       *rpc.Server
	waker     *outbox.Waker
	claims    *claims.Saga
	recovery  time.Duration
	answers   daemon.Part
	retention *store.Retention
}

// Migrate brings the database up to date.
func Migrate(ctx context.Context, cfg Config) error {
	return postgres.Migrate(ctx, cfg.Database.URL, schema()...)
}

// Pending lists the migrations that Migrate would run.
func Pending(ctx context.Context, cfg Config) ([]string, error) {
	return postgres.Pending(ctx, cfg.Database.URL, schema()...)
}

// schema is what the service's database is made of.
func schema() []postgres.Migrations {
	return []postgres.Migrations{store.Migrations(), outbox.Migrations(), idempotency.Migrations()}
}

// New opens what the service needs. Run closes it.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return nil, fmt.Errorf("seal keys: %w", err)
	}
	if err := checkClaimURL(cfg.ClaimURL); err != nil {
		return nil, err
	}
	s := &Service{tel: tel, recovery: cfg.RecoveryInterval}
	if s.recovery <= 0 {
		s.recovery = defaultRecoveryInterval
	}
	if err := s.assemble(ctx, cfg, ring); err != nil {
		s.close(ctx)
		return nil, err
	}
	return s, nil
}

func checkClaimURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return errClaimURL
	}
	return nil
}

// peers are the services this one asks.
type peers struct {
	tenants tenantsv1.DirectoryServiceClient
	catalog catalogv1.SelectionsServiceClient
	orders  ordersv1.ClaimsServiceClient
}

func (s *Service) assemble(ctx context.Context, cfg Config, ring *seal.Ring) error {
	peers, err := s.dial(cfg)
	if err != nil {
		return err
	}
	if s.pool, err = postgres.OpenObserved(ctx, cfg.Database, s.tel); err != nil {
		return err
	}
	s.waker = outbox.NewWaker(s.pool, s.tel.Logger)
	s.answers = idempotency.Retention(s.pool, cfg.Idempotency, s.tel.Logger)
	links := store.New(s.pool, ring)
	s.retention = &store.Retention{Store: links, Keep: cfg.DetailsRetention, Log: s.tel.Logger}
	if s.retention.Keep <= 0 {
		s.retention.Keep = defaultDetailsRetention
	}
	s.claims = &claims.Saga{
		Links: links, Orders: peers.orders, Lease: claims.DefaultLease, Clock: time.Now, Log: s.tel.Logger, Woken: s.waker.Wake,
	}
	if s.rpc, err = rpc.NewServer(cfg.RPC, s.tel, server.Collectors()...); err != nil {
		return err
	}
	s.rpc.Intercept(s.waker.Intercept)
	s.register(cfg, peers, links, ring)
	return nil
}

func (s *Service) register(cfg Config, peers peers, links *store.Store, ring *seal.Ring) {
	linksv1.RegisterPersonalLinksServiceServer(s.rpc, &server.Public{
		Store: links, Ring: ring, Tenants: tenantcache.New(peers.tenants), Catalog: peers.catalog, Claims: s.claims,
		ClaimURL: cfg.ClaimURL, Clock: time.Now,
	})
	linksv1.RegisterGiftSiteServiceServer(s.rpc, &server.GiftSite{
		Store: links, Tenants: peers.tenants, Catalog: peers.catalog, Claims: s.claims,
	})
	linksv1.RegisterPersonalLinkOperationsServiceServer(s.rpc, &server.Operations{
		Store: links, Tenants: peers.tenants, Claims: s.claims, Clock: time.Now,
	})
}

func (s *Service) dial(cfg Config) (p peers, err error) {
	for _, peer := range []struct {
		service identity.Name
		addr    string
		use     func(conn *grpc.ClientConn)
	}{
		{identity.Tenants, cfg.TenantsAddr, func(c *grpc.ClientConn) { p.tenants = tenantsv1.NewDirectoryServiceClient(c) }},
		{identity.Catalog, cfg.CatalogAddr, func(c *grpc.ClientConn) { p.catalog = catalogv1.NewSelectionsServiceClient(c) }},
		{identity.Orders, cfg.OrdersAddr, func(c *grpc.ClientConn) { p.orders = ordersv1.NewClaimsServiceClient(c) }},
	} {
		conn, err := rpc.Dial(rpc.Target{Service: peer.service, Addr: peer.addr, TLS: cfg.RPC.TLS}, s.tel)
		if err != nil {
			return p, err
		}
		s.conns = append(s.conns, conn)
		peer.use(conn)
	}
	return p, nil
}

// Run serves until ctx ends and then closes what New opened.
func (s *Service) Run(ctx context.Context) error {
	defer s.close(ctx)
	return daemon.Run(ctx, s.tel.Logger,
		daemon.Part{Name: "grpc", Run: s.rpc.Run},
		daemon.Metrics(s.tel, s.rpc.Ready, s.pool.Ping),
		daemon.Part{Name: "waker", Run: s.waker.Run, Last: true},
		daemon.Part{Name: "claims", Run: func(ctx context.Context) error { return s.claims.Recover(ctx, s.recovery) }},
		s.answers,
		daemon.Part{Name: "retention", Run: s.retention.Run},
	)
}

func (s *Service) close(ctx context.Context) {
	if s.pool != nil {
		s.pool.Close()
	}
	for _, conn := range s.conns {
		if err := conn.Close(); err != nil {
			s.tel.Logger.WarnContext(ctx, "close connection", "error", err)
		}
	}
}
