// Package personallinks is the service for personal links. A tenant passes a link to a player, who chooses a gift and enters a
// delivery address (API specification, section Personal link). The service reads settings from tenants and gifts from catalog,
// and places the order of a claim with orders.
package personallinks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/metric"
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
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/autoclaim"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/server"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Config of the service.
type Config struct {
	RPC       rpc.Config
	Database  postgres.Config
	Telemetry telemetry.Config

	Environment apikey.Environment `env:"ENVIRONMENT,required" check:"oneof=production|sandbox" doc:"Environment of this deployment; only sandbox has the operations below /sandbox."`
	TenantsAddr string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a DNS name of all instances, or their addresses."`
	CatalogAddr string             `env:"CATALOG_ADDR,required" check:"hostports" doc:"The catalog service: a DNS name of all instances, or their addresses."`
	OrdersAddr  string             `env:"ORDERS_ADDR,required" check:"hostports" doc:"The orders service: a DNS name of all instances, or their addresses."`
	SealKeys    string             `env:"SEAL_KEYS,required" secret:"true" doc:"Key ring of sealed columns: id:base64-of-32-bytes, separated by commas; the first is used for new values."`
	EventKeys   seal.EventKeys
	// ClaimURL and a token make the claimUrl of a link. A link keeps its claimUrl when ClaimURL changes.
	ClaimURL           string `env:"CLAIM_URL,required" check:"web" doc:"Address of the gift site to which a token is appended, such as https://gifts.example.com/c."`
	Idempotency        idempotency.Config
	DetailsRetention   time.Duration `env:"DETAILS_RETENTION" envDefault:"2160h" check:"min=1h" doc:"How long label, message, e-mail and answers of a claimed or cancelled link are stored; then they are erased."`
	UnclaimedRetention time.Duration `env:"UNCLAIMED_RETENTION" envDefault:"8760h" check:"min=24h" doc:"How long label, message, e-mail and answers of a link that nobody has claimed are stored; then they are erased. The link stays open."`
	RecoveryInterval   time.Duration `env:"RECOVERY_INTERVAL" envDefault:"5s" check:"min=100ms" doc:"How often unfinished claims are reconciled."`
}

// Validate implements the check of package settings.
func (c Config) Validate() error {
	_, err := seal.ParseRing(c.SealKeys)
	return settings.Invalid("SEAL_KEYS", err)
}

const eraseBatch = 1000

var errClaimURL = errors.New("the claim URL must be an http or https address without query and fragment")

// Service is the running service.
type Service struct {
	cfg     Config
	tel     *telemetry.Telemetry
	pool    *pgxpool.Pool
	conns   []*grpc.ClientConn
	rpc     *rpc.Server
	keys    *seal.RingCheck
	waker   *outbox.Waker
	links   *store.Store
	claims  *claims.Saga
	answers daemon.Part
	sandbox []daemon.Part // Empty in production.
	clock   *daemon.RetentionClock
}

// Migrate brings the database up to date, and writes what it does to out.
func Migrate(ctx context.Context, cfg Config, out io.Writer) error {
	return postgres.Migrate(ctx, cfg.Database, out, schema()...)
}

// Compare compares the database with the migrations of this version.
func Compare(ctx context.Context, cfg Config) (postgres.Difference, error) {
	return postgres.Compare(ctx, cfg.Database.URL, schema()...)
}

// schema lists the migrations of the service's database.
func schema() []postgres.Migrations {
	return []postgres.Migrations{store.Migrations(), outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations()}
}

// New opens the service's database and connections. Run closes them.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Service, error) {
	if err := settings.Defaults(&cfg); err != nil {
		return nil, err
	}
	if err := checkClaimURL(cfg.ClaimURL); err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, tel: tel}
	if err := s.assemble(ctx); err != nil {
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

func (s *Service) assemble(ctx context.Context) error {
	ring, err := seal.ParseRing(s.cfg.SealKeys)
	if err != nil {
		return fmt.Errorf("seal keys: %w", err)
	}
	tenantsConn, err := s.dial(identity.Tenants, s.cfg.TenantsAddr)
	if err != nil {
		return err
	}
	catalog, err := s.dial(identity.Catalog, s.cfg.CatalogAddr)
	if err != nil {
		return err
	}
	orders, err := s.dial(identity.Orders, s.cfg.OrdersAddr)
	if err != nil {
		return err
	}
	if s.pool, err = postgres.OpenObserved(ctx, s.cfg.Database, s.tel); err != nil {
		return err
	}
	eventKeys, err := s.cfg.EventKeys.Parse()
	if err != nil {
		return err
	}
	if s.keys, err = seal.NewRingCheck(ctx, s.pool, s.tel, sealKeys(ring), seal.CheckedEventRing(eventKeys, outbox.Sealed())); err != nil {
		return err
	}
	s.waker = outbox.NewWaker(s.pool, s.tel.Logger)
	if s.clock, err = daemon.NewRetentionClock(s.pool, s.tel); err != nil {
		return err
	}
	s.answers = idempotency.Retention(s.pool, s.clock, s.cfg.Idempotency, s.tel)
	s.links = store.New(s.pool, ring, seal.NewEventWriter(eventKeys))
	lostClaim, err := countLostClaims(s.tel)
	if err != nil {
		return err
	}
	placing := ordersv1.NewClaimsServiceClient(orders)
	s.claims = claims.New(claims.Deps{
		Links: s.links, Orders: placing, Clock: time.Now, Log: s.tel.Logger, Wake: s.waker.Wake,
		LostClaim: lostClaim,
	}, claims.Config{Lease: claims.Lease})
	auto := &autoclaim.Worker{Store: s.links, Clock: time.Now, Log: s.tel.Logger, Wake: s.waker.Wake}
	steps := sandboxpace.NewLoop("sandbox claims", s.tel.Logger, auto.Run)
	srv := server.New(server.Deps{
		Store: s.links, Ring: ring, Tenants: tenants.NewCache(tenantsv1.NewDirectoryServiceClient(tenantsConn)),
		Catalog: catalogv1.NewSelectionsServiceClient(catalog), Claims: s.claims, Orders: placing, Clock: time.Now,
		WakeAuto: steps.Wake,
	}, server.Config{ClaimURL: s.cfg.ClaimURL, Sandbox: s.cfg.Environment == apikey.Sandbox})
	auto.Claims = srv
	if s.rpc, err = rpc.NewServer(s.cfg.RPC, s.tel, server.Collectors()...); err != nil {
		return err
	}
	s.rpc.Intercept(s.waker.Intercept)
	if s.cfg.Environment == apikey.Sandbox {
		linksv1.RegisterSandboxPersonalLinksServiceServer(s.rpc, srv)
		s.sandbox = append(s.sandbox, steps.Part())
	}
	linksv1.RegisterPersonalLinksServiceServer(s.rpc, srv)
	linksv1.RegisterGiftSiteServiceServer(s.rpc, srv)
	linksv1.RegisterPersonalLinkOperationsServiceServer(s.rpc, srv)
	linksv1.RegisterClaimRecordsServiceServer(s.rpc, srv)
	privacyv1.RegisterPersonalDataServiceServer(s.rpc, srv)
	privacyv1.RegisterTenantDataServiceServer(s.rpc, &tenants.ExportServer{Database: store.TenantData(s.pool, ring)})
	return nil
}

// countLostClaims registers the metric of claims that a link had lost. It should stay zero: such a link went back in time.
func countLostClaims(tel *telemetry.Telemetry) (func(ctx context.Context), error) {
	lost, err := tel.Meters.Meter("github.com/partnergifting/platform/services/personal-links").Int64Counter(
		"gifting.links.lost_claims", metric.WithDescription("Claims of a link that already had an order and had lost it."))
	if err != nil {
		return nil, fmt.Errorf("metrics of personal links: %w", err)
	}
	lost.Add(context.Background(), 0) // The series exists before the first one.
	return func(ctx context.Context) { lost.Add(ctx, 1) }, nil
}

func (s *Service) dial(service identity.Name, addr string) (*grpc.ClientConn, error) {
	conn, err := rpc.Dial(rpc.Target{Service: service, Addr: addr, TLS: s.cfg.RPC.TLS}, s.tel)
	if err == nil {
		s.conns = append(s.conns, conn)
	}
	return conn, err
}

// Run serves until ctx ends and then closes everything that New opened.
func (s *Service) Run(ctx context.Context) error {
	defer s.close(ctx)
	return daemon.Run(ctx, s.tel.Logger, append(s.sandbox,
		s.keys.Hold(daemon.Part{Name: "grpc", Run: s.rpc.Run}),
		daemon.Metrics(s.tel, s.keys.Ready, s.rpc.Ready, s.pool.Ping),
		s.keys.Part(),
		daemon.Part{Name: "waker", Run: s.waker.Run, Last: true},
		daemon.Every("claims", s.cfg.RecoveryInterval, s.tel, s.claims.ReconcileExpired),
		s.answers,
		s.clock.Part(s.tel),
		s.clock.Every("retention", time.Hour, s.tel, s.eraseDetails),
	)...)
}

func (s *Service) eraseDetails(ctx context.Context, lag time.Duration) error {
	return errors.Join(
		daemon.InBatches(ctx, eraseBatch, func(ctx context.Context, limit int) (int, error) {
			return s.links.EraseDetails(ctx, s.cfg.DetailsRetention+lag, limit)
		}),
		daemon.InBatches(ctx, eraseBatch, func(ctx context.Context, limit int) (int, error) {
			return s.links.EraseUnclaimed(ctx, s.cfg.UnclaimedRetention+lag, limit)
		}),
		daemon.InBatches(ctx, eraseBatch, func(ctx context.Context, limit int) (int, error) {
			return s.links.DeleteExpiredDrafts(ctx, lag, limit)
		}),
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

// sealKeys says what the ring must open. Reencrypt covers the same columns.
func sealKeys(ring *seal.Ring) seal.CheckedRing {
	values := []seal.SealedValues{server.SealedAnswers()}
	for _, table := range store.SealedColumns() {
		values = append(values, seal.SealedColumns(table)...)
	}
	return seal.CheckedRingOf(ring, values...)
}

// Reencrypt seals all sealed values of the links, the drafts and the stored responses again with the first of the seal keys while the service
// runs. After success no value needs another key.
func Reencrypt(ctx context.Context, cfg Config, out io.Writer) error {
	for _, table := range store.SealedColumns() {
		if err := seal.ReEncrypt(ctx, cfg.Database, cfg.SealKeys, table, out); err != nil {
			return err
		}
	}
	ring, err := seal.ParseRing(cfg.SealKeys)
	if err != nil {
		return fmt.Errorf("seal keys: %w", err)
	}
	pool, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := server.ReencryptAnswers(ctx, pool, ring, out); err != nil {
		return err
	}
	return seal.CheckReEncrypted(ctx, cfg.Database, sealKeys(ring))
}
