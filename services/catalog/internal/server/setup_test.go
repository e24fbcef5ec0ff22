package server_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/server"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

const (
	tenantID = "0196a000-0000-7000-8000-000000000001"
	// otherTenantID has the same settings and no brands.
	otherTenantID = "0196a000-0000-7000-8000-000000000002"

	brandID   = "0196a000-0000-7000-8000-0000000000b1"
	publicURL = "https://gifts.example.com/api/public/v1"

	// maxStoredImage is lower than in production, so that a test reaches it with a small image.
	maxStoredImage = 1 << 20
)

const (
	draft     = catalogv1.ProductState_PRODUCT_STATE_DRAFT
	published = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
	archived  = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	internal  = catalogv1.ProductState_PRODUCT_STATE_INTERNAL

	inPreparation = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	running       = catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE
	completed     = catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED

	offered     = catalogv1.OfferingStatus_OFFERING_STATUS_ACTIVE
	needsReview = catalogv1.OfferingStatus_OFFERING_STATUS_NEEDS_REVIEW

	stocked  = catalogv1.SupplyType_SUPPLY_TYPE_STOCKED
	onDemand = catalogv1.SupplyType_SUPPLY_TYPE_ON_DEMAND
)

// fixture has clients of all services over gRPC, and their database.
type fixture struct {
	t          *testing.T
	catalog    catalogv1.CatalogServiceClient
	ops        catalogv1.CatalogOperationsServiceClient
	ordering   catalogv1.OrderingServiceClient
	images     catalogv1.ImagesServiceClient
	logos      catalogv1.BrandLogosServiceClient
	imports    catalogv1.ImportServiceClient
	selections catalogv1.SelectionsServiceClient
	currencies catalogv1.CurrenciesServiceClient
	products   catalogv1.ProductOperationsServiceClient
	campaigns  catalogv1.CampaignOperationsServiceClient
	sandbox    catalogv1.SandboxCatalogServiceClient
	files      *images.Files
	// sandboxed means that the fixture is a sandbox.
	sandboxed bool
	directory *tenantstest.Directory
	db        *pgxpool.Pool
}

// setup makes a fixture in which every row has a twin of another tenant.
func setup(t *testing.T) *fixture {
	t.Helper()
	return withTwins(t, setupWithoutTwins(t))
}

// setupSandbox is setup for the sandbox.
func setupSandbox(t *testing.T) *fixture {
	t.Helper()
	return withTwins(t, newFixture(t, true))
}

// environments are the setups of both environments.
var environments = map[string]func(t *testing.T) *fixture{"production": setup, "sandbox": setupSandbox}

func withTwins(t *testing.T, f *fixture) *fixture {
	t.Helper()
	pgtest.Exec(t, f.db, "ALTER TABLE campaigns DROP CONSTRAINT campaigns_one_tenant")
	pgtest.Twin(t, f.db, map[string]string{
		"campaigns": `twin.name := 'Twin'; twin.greetings := '{"en-US": "Twin", "sv-SE": "Tvilling"}';`,
		"offerings": "twin.status := CASE NEW.status WHEN 'ACTIVE' THEN 'NEEDS_REVIEW' ELSE 'ACTIVE' END;" +
			"twin.supply_type := CASE NEW.supply_type WHEN 'STOCKED' THEN 'ON_DEMAND' ELSE 'STOCKED' END;",
		"skus": "twin.id := gen_random_uuid(); twin.stock := coalesce(NEW.stock, 0) + 1000; " +
			"twin.variations := '{\"Twin\": \"T\"}';",
		"sandbox_products": "twin.unlisted := NOT NEW.unlisted; twin.added := NEW.removed; twin.removed := NEW.added;",
		"brand_heroes":     "twin.uploaded_at := timestamptz '2100-01-01' + (timestamptz '2100-01-01' - NEW.uploaded_at);",
		// The oldest ones of this tenant are the newest ones of the other.
		"brand_logos": "twin.uploaded_at := timestamptz '2100-01-01' + (timestamptz '2100-01-01' - NEW.uploaded_at);",
	})
	return f
}

// setupWithoutTwins is for tests with SQL of their own, which counts or changes the rows of all tenants.
func setupWithoutTwins(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, false)
}

func newFixture(t *testing.T, sandboxed bool) *fixture {
	t.Helper()
	locales := []string{"en-US", "sv-SE"}
	directory := tenantstest.NewDirectory(t,
		&tenantstest.Settings{
			Version: 1, Tenant: &tenantsv1.Tenant{Id: tenantID, Currency: "SEK", Locales: locales},
			Brands: []*tenantsv1.Brand{{Id: brandID}},
		},
		&tenantstest.Settings{Version: 1, Tenant: &tenantsv1.Tenant{Id: otherTenantID, Currency: "SEK", Locales: locales}})
	f := &fixture{
		t: t, sandboxed: sandboxed, db: pgtest.New(t, store.Migrations(), idempotency.Migrations()), directory: directory,
	}
	files, err := images.Open(t.Context(), "file://"+filepath.ToSlash(t.TempDir())+"?no_tmp_dir=true&metadata=skip")
	require.NoError(t, err)
	t.Cleanup(func() { _ = files.Close() })
	f.files = files
	f.serveIn(identity.Cell{})
	return f
}

// serveIn makes the clients those of a new server in a cell.
func (f *fixture) serveIn(cell identity.Cell) {
	t := f.t
	t.Helper()
	s, err := rpc.NewServer(rpc.Config{}, telemetry.Discard(), server.Collectors()...)
	require.NoError(t, err)
	server.Register(s, server.Deps{
		Store: store.New(f.db, f.sandboxed), Files: f.files, Processor: picture.NewProcessor(maxStoredImage),
		Directory: f.directory.Client,
	}, server.Config{PublicURL: publicURL, ReservationTTL: time.Minute, Sandbox: f.sandboxed, Cell: cell})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := rpc.Dial(rpc.Target{Addr: listener.Addr().String()}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	f.catalog = catalogv1.NewCatalogServiceClient(conn)
	f.ops = catalogv1.NewCatalogOperationsServiceClient(conn)
	f.ordering = catalogv1.NewOrderingServiceClient(conn)
	f.images = catalogv1.NewImagesServiceClient(conn)
	f.logos = catalogv1.NewBrandLogosServiceClient(conn)
	f.imports = catalogv1.NewImportServiceClient(conn)
	f.selections = catalogv1.NewSelectionsServiceClient(conn)
	f.currencies = catalogv1.NewCurrenciesServiceClient(conn)
	f.products = catalogv1.NewProductOperationsServiceClient(conn)
	f.campaigns = catalogv1.NewCampaignOperationsServiceClient(conn)
	f.sandbox = catalogv1.NewSandboxCatalogServiceClient(conn)
}

// keyContext returns the context of a key for all brands of the tenant, with the tenant's version that the edge saw and the
// violations that it found.
func (f *fixture) keyContext(version int64, violations ...problem.Violation) context.Context {
	return f.asKey(caller.Principal{TenantID: tenantID, KeyID: 1, AllBrands: true, TenantVersion: version}, violations...)
}

// asBrands is the context of a key of the tenant for some brands.
func (f *fixture) asBrands(brands ...string) context.Context {
	return f.asKey(caller.Principal{TenantID: tenantID, KeyID: 2, BrandIDs: brands, TenantVersion: 1})
}

func (f *fixture) asOtherTenant() context.Context {
	return f.asKey(caller.Principal{TenantID: otherTenantID, AllBrands: true, TenantVersion: 1})
}

func (f *fixture) asKey(p caller.Principal, violations ...problem.Violation) context.Context {
	f.t.Helper()
	ctx, err := caller.Outgoing(f.t.Context(), p, caller.Request{Violations: violations})
	require.NoError(f.t, err)
	return ctx
}

// method is an RPC of a client.
type method[Req, Resp any] = func(ctx context.Context, req Req, opts ...grpc.CallOption) (Resp, error)

// call makes a call that must succeed, as a key of the tenant.
func call[Req, Resp any](f *fixture, rpc method[Req, Resp], req Req) Resp {
	f.t.Helper()
	resp, err := rpc(f.keyContext(1), req)
	require.NoError(f.t, err)
	return resp
}

// codes are the codes of violations by field.
type codes = map[string]string

// violations makes a call with an invalid request.
func violations[Req, Resp any](f *fixture, rpc method[Req, Resp], req Req) codes {
	f.t.Helper()
	_, err := rpc(f.keyContext(1), req)
	return violationsOf(f.t, err)
}

func violationsOf(t *testing.T, err error) codes {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.InvalidRequest, p.Code, "%v", err)
	got := codes{}
	for _, v := range p.Violations {
		got[v.Field] = v.Code
	}
	return got
}

// invalidRequest is a request with the codes of its violations.
type invalidRequest[Req any] struct {
	req  Req
	want codes
}

func testInvalid[Req, Resp any](f *fixture, rpc method[Req, Resp], requests map[string]invalidRequest[Req]) {
	for name, tc := range requests {
		f.t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, violations(f, rpc, tc.req)) })
	}
}

// refused makes a call that must be refused with the code.
func refused[Req, Resp any](f *fixture, code problem.Code, rpc method[Req, Resp], req Req) {
	f.t.Helper()
	_, err := rpc(f.keyContext(1), req)
	require.True(f.t, problem.Is(err, code), "%v", err)
}

// moveableClock lets a test set the clock of the catalog forward or back.
func (f *fixture) moveableClock() (move func(by time.Duration)) {
	f.t.Helper()
	pgtest.Exec(f.t, f.db, `CREATE TABLE test_clock (ahead interval NOT NULL);
INSERT INTO test_clock VALUES ('0');
CREATE OR REPLACE FUNCTION catalog_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
'SELECT clock_timestamp() + (SELECT ahead FROM test_clock)'`)
	return func(by time.Duration) {
		pgtest.Exec(f.t, f.db, `UPDATE test_clock SET ahead = ahead + $1`, by)
	}
}

func TestAClockSetBackDoesNotReorderChanges(t *testing.T) {
	t.Parallel()
	f := setup(t)
	move := f.moveableClock()
	a, b := gift(), gift()
	first := f.put(a)
	move(-time.Hour)
	second := f.put(b)
	require.True(t, second.After(first))
	require.Equal(t, []string{b.GetId()}, ids(f.changedSince(first.Add(time.Microsecond))))
	move(2 * time.Hour)
	a.Name = "Later"
	require.True(t, f.put(a).After(second.Add(30*time.Minute)), "the clock is used again once it is ahead")
}
