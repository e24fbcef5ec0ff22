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
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

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
	Cell      identity.Cell
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
	_, keys := seal.ParseRing(c.SealKeys)
	return errors.Join(settings.Invalid("SEAL_KEYS", keys), settings.Invalid("CLAIM_URL", checkClaimURL(c.ClaimURL)))
}

const eraseBatch = 1000

var errClaimURL = errors.New("the claim URL must be an http or https address with the path /c of the gift site")

// Program describes the command of the service.
func Program() service.Program[Config] {
	return service.Program[Config]{
		Name:      identity.PersonalLinks,
		Telemetry: func(cfg Config) telemetry.Config { return cfg.Telemetry },
		Database:  func(cfg Config) postgres.Config { return cfg.Database },
		Schema: []postgres.Migrations{
			store.Migrations(), outbox.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations(),
		},
		New: New,
		Tasks: []service.Task[Config]{
			{Name: "re-encrypt", Short: "re-encrypt all links and stored responses under the first of the seal keys", Run: Reencrypt},
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
	eventKeys, err := cfg.EventKeys.Parse()
	if err != nil {
		return nil, err
	}
	return service.New(ctx, service.Config{
		Telemetry: tel, RPC: cfg.RPC, Collectors: server.Collectors(), Database: &cfg.Database, Outbox: true,
		KeyRings: []seal.CheckedRing{sealKeys(ring), seal.CheckedEventRing(eventKeys, outbox.Sealed())},
	}, func(s *service.Service) error { return assemble(s, cfg, ring, seal.NewEventWriter(eventKeys)) })
}

// checkClaimURL refuses an address whose links could not be claimed: the pages of the gift site are at /c of their host.
func checkClaimURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		strings.TrimSuffix(u.Path, "/") != "/c" {
		return errClaimURL
	}
	return nil
}

func assemble(s *service.Service, cfg Config, ring *seal.Ring, events *seal.EventWriter) error {
	directory, err := s.Dial(identity.Tenants, cfg.TenantsAddr)
	if err != nil {
		return err
	}
	catalog, err := s.Dial(identity.Catalog, cfg.CatalogAddr)
	if err != nil {
		return err
	}
	ordersConn, err := s.Dial(identity.Orders, cfg.OrdersAddr)
	if err != nil {
		return err
	}
	lostClaim, err := countLostClaims(s.Telemetry)
	if err != nil {
		return err
	}
	links, orders := store.New(s.Pool, ring, events), ordersv1.NewClaimsServiceClient(ordersConn)
	saga := claims.New(claims.Deps{
		Links: links, Orders: orders, Clock: time.Now, Log: s.Telemetry.Logger, Wake: s.Waker.Wake, LostClaim: lostClaim,
	})
	steps := sandboxpace.NewLoop("sandbox claims", s.Telemetry.Logger)
	srv := server.New(server.Deps{
		Store: links, Ring: ring, Tenants: tenants.NewCache(tenantsv1.NewDirectoryServiceClient(directory), cfg.Cell),
		Catalog: catalogv1.NewSelectionsServiceClient(catalog), Claims: saga, Orders: orders, Clock: time.Now,
		WakeAuto: steps.Wake,
	}, server.Config{Cell: cfg.Cell, ClaimURL: cfg.ClaimURL, Sandbox: cfg.Environment == apikey.Sandbox})
	if cfg.Environment == apikey.Sandbox {
		linksv1.RegisterSandboxPersonalLinksServiceServer(s.Server, srv)
		auto := &autoclaim.Worker{Store: links, Claims: srv, Clock: time.Now, Log: s.Telemetry.Logger, Wake: s.Waker.Wake}
		s.Add(steps.Part(auto.Run))
	}
	s.Add(
		daemon.Every("claims", cfg.RecoveryInterval, s.Telemetry, saga.ReconcileExpired),
		idempotency.Retention(s.Pool, s.Clock, cfg.Idempotency, s.Telemetry),
		s.Clock.Every("retention", time.Hour, s.Telemetry, func(ctx context.Context, lag time.Duration) error {
			return eraseDetails(ctx, links, cfg, lag)
		}),
	)
	linksv1.RegisterPersonalLinksServiceServer(s.Server, srv)
	linksv1.RegisterGiftSiteServiceServer(s.Server, srv)
	linksv1.RegisterPersonalLinkOperationsServiceServer(s.Server, srv)
	linksv1.RegisterClaimRecordsServiceServer(s.Server, srv)
	privacyv1.RegisterPersonalDataServiceServer(s.Server, srv)
	privacyv1.RegisterTenantDataServiceServer(s.Server, &tenants.ExportServer{Database: store.TenantData(s.Pool, ring)})
	return nil
}

// countLostClaims registers the metric of claims that a link had lost. It should stay zero: such a link was set back.
func countLostClaims(tel *telemetry.Telemetry) (func(ctx context.Context), error) {
	lost, err := tel.Meters.Meter("github.com/partnergifting/platform/services/personal-links").Int64Counter(
		"gifting.links.lost_claims", metric.WithDescription("Claims of a link that already had an order and had lost it."))
	if err != nil {
		return nil, fmt.Errorf("metrics of personal links: %w", err)
	}
	lost.Add(context.Background(), 0) // The series exists before the first one.
	return func(ctx context.Context) { lost.Add(ctx, 1) }, nil
}

// eraseDetails erases what has been stored for longer than its retention and the lag of the retention clock.
func eraseDetails(ctx context.Context, links *store.Store, cfg Config, lag time.Duration) error {
	return errors.Join(
		daemon.InBatches(ctx, eraseBatch, func(ctx context.Context, limit int) (int, error) {
			return links.EraseDetails(ctx, cfg.DetailsRetention+lag, limit)
		}),
		daemon.InBatches(ctx, eraseBatch, func(ctx context.Context, limit int) (int, error) {
			return links.EraseUnclaimed(ctx, cfg.UnclaimedRetention+lag, limit)
		}),
		daemon.InBatches(ctx, eraseBatch, func(ctx context.Context, limit int) (int, error) {
			return links.DeleteExpiredDrafts(ctx, lag, limit)
		}),
	)
}

// sealKeys says what the ring must open. Reencrypt covers the same columns.
func sealKeys(ring *seal.Ring) seal.CheckedRing {
	values := []seal.SealedValues{server.SealedAnswers()}
	for _, table := range store.SealedColumns() {
		values = append(values, seal.SealedColumns(table)...)
	}
	return seal.CheckedRingOf(ring, values...)
}

// Reencrypt seals all sealed values of the links, the drafts and the stored responses again with the first of the seal keys while
// the service runs. After success no value needs another key.
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
