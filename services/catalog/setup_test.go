package catalog_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog"
)

const (
	tenantID = "0196a000-0000-7000-8000-000000000001"
	// otherTenantID has the same settings and no brand in common.
	otherTenantID = "0196a000-0000-7000-8000-000000000002"

	brandID   = "0196a000-0000-7000-8000-0000000000b1"
	publicURL = "https://gifts.example.com/api/public/v1"
)

// stack is the running service with its clients and, for what no RPC tells, its database.
type stack struct {
	t          *testing.T
	catalog    catalogv1.CatalogServiceClient
	ops        catalogv1.CatalogOperationsServiceClient
	ordering   catalogv1.OrderingServiceClient
	images     catalogv1.ImagesServiceClient
	logos      catalogv1.BrandLogosServiceClient
	imports    catalogv1.ImportServiceClient
	selections catalogv1.SelectionsServiceClient
	products   catalogv1.ProductOperationsServiceClient
	campaigns  catalogv1.CampaignOperationsServiceClient
	directory  *directory
	db         *pgxpool.Pool
}

// setup runs the service on a fresh database, over real gRPC, beside a directory of one tenant.
func setup(t *testing.T, change ...func(*catalog.Config)) *stack {
	t.Helper()
	s := &stack{t: t, directory: newDirectory()}
	tenantsAddr := freeAddr(t)
	tenants, err := rpc.NewServer(rpc.Config{Addr: tenantsAddr}, telemetry.Discard())
	require.NoError(t, err)
	tenantsv1.RegisterDirectoryServiceServer(tenants, s.directory)
	run(t, tenants.Run)

	cfg := catalog.Config{
		RPC:         rpc.Config{Addr: freeAddr(t)},
		Database:    postgres.Config{URL: pgtest.NewURL(t)},
		TenantsAddr: tenantsAddr,
		ImagesURL:   "file://" + filepath.ToSlash(t.TempDir()) + "?no_tmp_dir=true&metadata=skip",
		PublicURL:   publicURL,
	}
	for _, c := range change {
		c(&cfg)
	}
	require.NoError(t, catalog.Migrate(t.Context(), cfg))
	require.NoError(t, catalog.Migrate(t.Context(), cfg), "migrating again changes nothing")
	service, err := catalog.New(t.Context(), cfg, telemetry.Discard())
	require.NoError(t, err)
	run(t, service.Run)
	s.db, err = postgres.Open(t.Context(), cfg.Database)
	require.NoError(t, err)
	t.Cleanup(s.db.Close)
	s.dial(cfg.RPC.Addr)
	return s
}

func (s *stack) dial(addr string) {
	conn, err := rpc.Dial(rpc.Target{Addr: addr}, telemetry.Discard())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	require.Eventually(s.t, func() bool {
		r, err := healthpb.NewHealthClient(conn).Check(s.t.Context(),
			&healthpb.HealthCheckRequest{Service: "gifting.catalog.v1.CatalogService"})
		return err == nil && r.GetStatus() == healthpb.HealthCheckResponse_SERVING
	}, 10*time.Second, 5*time.Millisecond)
	s.catalog = catalogv1.NewCatalogServiceClient(conn)
	s.ops = catalogv1.NewCatalogOperationsServiceClient(conn)
	s.ordering = catalogv1.NewOrderingServiceClient(conn)
	s.images = catalogv1.NewImagesServiceClient(conn)
	s.logos = catalogv1.NewBrandLogosServiceClient(conn)
	s.imports = catalogv1.NewImportServiceClient(conn)
	s.selections = catalogv1.NewSelectionsServiceClient(conn)
	s.products = catalogv1.NewProductOperationsServiceClient(conn)
	s.campaigns = catalogv1.NewCampaignOperationsServiceClient(conn)
}

// run runs a part until the test ends and demands that it ends well.
func run(t *testing.T, part func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

func freeAddr(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// as is a context of a key of the tenant; faults are those the edge found in the request.
func (s *stack) as(version int64, faults ...problem.Violation) context.Context {
	s.t.Helper()
	p := caller.Principal{TenantID: tenantID, KeyID: 1, AllBrands: true, TenantVersion: version}
	ctx, err := caller.Outgoing(s.t.Context(), p, caller.Request{Violations: faults})
	require.NoError(s.t, err)
	return ctx
}

func (s *stack) putRegion(code string, countries ...string) {
	s.t.Helper()
	_, err := s.ops.PutRegion(s.t.Context(), &catalogv1.PutRegionRequest{Code: code, Countries: countries})
	require.NoError(s.t, err)
}

func (s *stack) putRate(currency, rate string) {
	s.t.Helper()
	_, err := s.ops.PutExchangeRate(s.t.Context(), &catalogv1.PutExchangeRateRequest{Currency: currency, Rate: rate})
	require.NoError(s.t, err)
}

func (s *stack) putCategory(code string, subcategories ...string) {
	s.t.Helper()
	c := &catalogv1.Category{Code: code, Name: "Name of " + code}
	for _, sub := range subcategories {
		c.Subcategories = append(c.Subcategories, &catalogv1.Subcategory{Code: code + "__" + sub, Name: "Name of " + sub})
	}
	_, err := s.ops.PutCategory(s.t.Context(), &catalogv1.PutCategoryRequest{Category: c})
	require.NoError(s.t, err)
}

// put puts a gift and gives its updatedAt.
func (s *stack) put(p *catalogv1.PutProductRequest) time.Time {
	s.t.Helper()
	resp, err := s.ops.PutProduct(s.t.Context(), p)
	require.NoError(s.t, err)
	return resp.GetUpdatedAt().AsTime()
}

// gift is a published gift in two sizes for Sweden, without price.
func gift(change ...func(*catalogv1.PutProductRequest)) *catalogv1.PutProductRequest {
	p := &catalogv1.PutProductRequest{
		Id:                 uuid.NewString(),
		State:              catalogv1.ProductState_PRODUCT_STATE_PUBLISHED,
		Name:               "Wool blanket",
		Description:        "Warm.",
		Variations:         []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}},
		AvailableCountries: []string{"SE"},
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// violations gives field → code of a refused request.
func violations(t *testing.T, err error) map[string]string {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.InvalidRequest, p.Code, "%v", err)
	got := map[string]string{}
	for _, v := range p.Violations {
		got[v.Field] = v.Code
	}
	return got
}
