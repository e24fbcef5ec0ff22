package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/server"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// epoch is a time just before midnight.
var epoch = time.Date(2026, 3, 1, 23, 59, 59, 900_456_000, time.UTC)

// fixture serves personal links over real gRPC and PostgreSQL.
type fixture struct {
	t               testing.TB
	pool            *pgxpool.Pool
	ring            *seal.Ring
	client          linksv1.PersonalLinksServiceClient
	site            linksv1.GiftSiteServiceClient
	operations      linksv1.PersonalLinkOperationsServiceClient
	claimRecords    linksv1.ClaimRecordsServiceClient
	personal        privacyv1.PersonalDataServiceClient
	sandbox         linksv1.SandboxPersonalLinksServiceClient
	store           *store.Store
	tenant          string
	brand, campaign string
	directory       *tenantstest.Directory
	settings        int64 // Version of the tenant's settings.
	catalog         *gifts
	orders          *claimstest.Orders
	logged          *bytes.Buffer
	sandboxed       bool
	woken           *atomic.Int32 // How often links may have to be claimed by themselves.
}

// setup makes a fixture in which every row has a twin of another tenant.
func setup(t testing.TB) *fixture {
	t.Helper()
	f := setupWithoutTwins(t)
	pgtest.Twin(t, f.pool, map[string]string{
		"links":        "twin.brand_id := gen_random_uuid(); twin.token_hash := NULL; twin.locale := 'sv-SE';",
		"link_batches": "twin.product_ids := '{}'; twin.key_name := 'twin';",
		"form_drafts":  "twin.draft_sealed := '\\x00';",
		"link_audit":   "twin.actor_id := 'twin';",
		// The steps of the other tenant are never due.
		"sandbox_claims": "twin.due_at := now() + interval '20 years'; twin.pace := '30 years';",
	})
	return f
}

// setupWithoutTwins is for tests with SQL of their own, which counts or changes the rows of all tenants.
func setupWithoutTwins(t testing.TB) *fixture {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	f := &fixture{
		t: t, pool: pgtest.New(t, store.Migrations(), outbox.Migrations(), idempotency.Migrations()), ring: ring,
		tenant: newID(), brand: newID(), campaign: newID(), orders: claimstest.New(), logged: &bytes.Buffer{},
		sandboxed: true, woken: &atomic.Int32{},
	}
	f.directory = tenantstest.NewDirectory(t, f.newSettings())
	f.catalog = &gifts{campaignID: f.campaign, brandID: f.brand, gifts: []*catalogv1.SelectionGift{mug(), jersey()}}
	f.store = store.New(f.pool, ring, sealtest.Writer(t, eventKeys))
	f.serve()
	return f
}

// eventKeys seal the events.
var eventKeys = sealtest.Keys("a")

func (f *fixture) changeTenant(change func(s *tenantsv1.Tenant)) {
	f.settings = f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) { change(s.GetTenant()) })
}

// setSite sets the gift site of the brand, beside that of another brand.
func (f *fixture) setSite(site *tenantsv1.GiftSite) {
	f.settings = f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) {
		s.GiftSites = []*tenantsv1.BrandGiftSite{{BrandId: newID(), Site: &tenantsv1.GiftSite{}}, {BrandId: f.brand, Site: site}}
	})
}

// saga makes the claims of one instance.
func (f *fixture) saga(links claims.Links, orders ordersv1.ClaimsServiceClient) *claims.Saga {
	log := slog.New(slog.NewTextHandler(f.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return claims.New(claims.Deps{
		Links: links, Orders: orders, Clock: time.Now, Log: log, Wake: func() {}, LostClaim: func(context.Context) {},
	})
}

// failing makes the claims of an instance that fails.
func (f *fixture) failing(failure *claimstest.Failure) *claims.Saga {
	return f.saga(
		claimstest.FailingLinks{Store: f.store, Failure: failure}, claimstest.FailingOrders{Orders: f.orders, Failure: failure})
}

func (f *fixture) newServer(saga *claims.Saga) *server.Server {
	return server.New(server.Deps{
		Store: f.store, Ring: f.ring, Tenants: tenants.NewCache(f.directory.Client, identity.Cell{}), Catalog: f.catalog,
		Clock: time.Now, Claims: saga, Orders: f.orders, WakeAuto: func() { f.woken.Add(1) },
	}, server.Config{ClaimURL: "https://gifts.example.com/c", Sandbox: f.sandboxed})
}

func (f *fixture) serve() {
	f.t.Helper()
	tel := telemetry.Discard()
	s, err := rpc.NewServer(rpc.Config{}, tel, server.Collectors()...)
	require.NoError(f.t, err)
	srv := f.newServer(f.saga(f.store, f.orders))
	linksv1.RegisterPersonalLinksServiceServer(s, srv)
	linksv1.RegisterGiftSiteServiceServer(s, srv)
	linksv1.RegisterPersonalLinkOperationsServiceServer(s, srv)
	linksv1.RegisterClaimRecordsServiceServer(s, srv)
	privacyv1.RegisterPersonalDataServiceServer(s, srv)
	linksv1.RegisterSandboxPersonalLinksServiceServer(s, srv)
	listener, err := (&net.ListenConfig{}).Listen(f.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(f.t, err)
	go func() { _ = s.Serve(listener) }()
	f.t.Cleanup(s.Stop)
	conn, err := rpc.Dial(rpc.Target{Addr: listener.Addr().String()}, tel)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = conn.Close() })
	f.catalog.refuses = catalogv1.NewSelectionsServiceClient(conn) // The server of personal links does not have its methods.
	f.client, f.site = linksv1.NewPersonalLinksServiceClient(conn), linksv1.NewGiftSiteServiceClient(conn)
	f.operations, f.claimRecords = linksv1.NewPersonalLinkOperationsServiceClient(conn), linksv1.NewClaimRecordsServiceClient(conn)
	f.personal, f.sandbox = privacyv1.NewPersonalDataServiceClient(conn), linksv1.NewSandboxPersonalLinksServiceClient(conn)
}

// The team of the tenant.
const (
	anAdministrator = "0198f2e4-0000-7000-8000-000000000001"
	aCoordinator    = "0198f2e4-0000-7000-8000-000000000002"
	aMember         = "0198f2e4-0000-7000-8000-000000000003"
	formerMember    = "0198f2e4-0000-7000-8000-000000000004"
)

func (f *fixture) newSettings() *tenantsv1.GetTenantSettingsResponse {
	return &tenantsv1.GetTenantSettingsResponse{
		Tenant: &tenantsv1.Tenant{Id: f.tenant, Locales: []string{"en-US", "sv-SE"}},
		Brands: []*tenantsv1.Brand{{Id: f.brand, Name: "North Club", PrimaryColour: new("#102030")}},
		Team: []*tenantsv1.TeamMember{
			{Id: anAdministrator, Email: "ada@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true},
			{Id: aCoordinator, Email: "cora@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true},
			{Id: aMember, Email: "mia@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true},
			{Id: formerMember, Email: "gone@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR},
		},
	}
}

const (
	mugID    = "887658a1-e837-418d-85c0-a1d3ec462bb1"
	jerseyID = "887658a1-e837-418d-85c0-a1d3ec462bb2"
)

func mug() *catalogv1.SelectionGift {
	return &catalogv1.SelectionGift{ProductId: mugID, Name: "Mug", Description: "A mug", Countries: []string{"SE", "IE"}}
}

// jersey comes in two sizes, one of which is out of stock.
func jersey() *catalogv1.SelectionGift {
	return &catalogv1.SelectionGift{
		ProductId: jerseyID, Name: "Jersey", Countries: []string{"SE"},
		Images:     []*catalogv1.Image{{Url: "https://img.example.com/1", Width: new(int32(640))}},
		Variations: []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M", "L"}}},
		Skus: []*catalogv1.SelectionSku{
			{Variations: map[string]string{"Size": "S"}, StockRemaining: new(int32(0))},
			{Variations: map[string]string{"Size": "M"}, StockRemaining: new(int32(3))},
		},
	}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// keyContext is the context of a call by the principal, with violations of the edge.
func (f *fixture) keyContext(p caller.Principal, violations ...problem.Violation) context.Context {
	f.t.Helper()
	ctx, err := caller.Outgoing(f.t.Context(), p, caller.Request{Violations: violations})
	require.NoError(f.t, err)
	return ctx
}

func (f *fixture) everyBrand() caller.Principal {
	return caller.Principal{TenantID: f.tenant, TenantVersion: f.settings, KeyID: 1, AllBrands: true}
}

func (f *fixture) list(req *linksv1.ListPersonalLinksRequest) (*linksv1.ListPersonalLinksResponse, error) {
	return f.client.ListPersonalLinks(f.keyContext(f.everyBrand()), req)
}

// ids returns the ids of one page, which must be the last.
func (f *fixture) ids(t *testing.T, p caller.Principal, req *linksv1.ListPersonalLinksRequest) []string {
	t.Helper()
	resp, err := f.client.ListPersonalLinks(f.keyContext(p), req)
	require.NoError(t, err)
	require.Nil(t, resp.NextCursor)
	out := []string{}
	for _, item := range resp.GetItems() {
		out = append(out, item.GetId())
	}
	return out
}

// requireViolations checks for an invalid_request with exactly these `field code` pairs.
func requireViolations(t *testing.T, err error, want ...string) {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.InvalidRequest, p.Code, "%v", err)
	got := make([]string, 0, len(p.Violations))
	for _, v := range p.Violations {
		got = append(got, v.Field+" "+v.Code)
	}
	require.ElementsMatch(t, want, got)
}

// requireRefused checks for a refusal with the status of the link.
func requireRefused(t *testing.T, err error, code problem.Code, status string) {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, p.Code, "%v", err)
	require.Equal(t, status, p.CurrentStatus)
}

// gifts is a fake catalog: one campaign, and the gifts that are open to every brand.
type gifts struct {
	catalogv1.SelectionsServiceClient
	campaignID, brandID string
	closed              bool
	gifts               []*catalogv1.SelectionGift
	// former gifts cannot be chosen any more.
	former  []*catalogv1.SelectionGift
	failure error
	// hangs: GetOrderedGift returns only when its context ends.
	hangs bool
	// older: as release 1.0.0, which refuses a request with the ids of pictures.
	older   bool
	refuses catalogv1.SelectionsServiceClient
}

func (g *gifts) CheckSelection(
	_ context.Context, r *catalogv1.CheckSelectionRequest, _ ...grpc.CallOption,
) (*catalogv1.CheckSelectionResponse, error) {
	if g.failure != nil {
		return nil, g.failure
	}
	if r.GetSelection().CampaignId == nil {
		for _, id := range r.GetSelection().GetProductIds() {
			if !slices.ContainsFunc(g.gifts, func(gift *catalogv1.SelectionGift) bool { return gift.GetProductId() == id }) {
				return nil, problem.New(problem.ProductNotFound, "no")
			}
		}
		return &catalogv1.CheckSelectionResponse{}, nil
	}
	if r.GetSelection().GetCampaignId() != g.campaignID || !r.GetAllBrands() && !slices.Contains(r.GetBrandIds(), g.brandID) {
		return nil, problem.New(problem.CampaignNotFound, "no")
	}
	return &catalogv1.CheckSelectionResponse{CampaignBrandId: g.brandID}, nil
}

// knownPicture is a picture of the brand.
const knownPicture = "fedcba9876543210fedcba9876543210"

func (g *gifts) ListSelectionGifts(
	ctx context.Context, r *catalogv1.ListSelectionGiftsRequest, _ ...grpc.CallOption,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	if g.failure != nil {
		return nil, g.failure
	}
	if g.older && len(r.GetPictureIds()) > 0 {
		return g.refuses.ListSelectionGifts(ctx, r)
	}
	if g.closed && r.GetSelection().CampaignId != nil {
		return &catalogv1.ListSelectionGiftsResponse{}, nil
	}
	resp := &catalogv1.ListSelectionGiftsResponse{Open: true}
	for _, gift := range g.gifts {
		if r.GetSelection().CampaignId != nil || slices.Contains(r.GetSelection().GetProductIds(), gift.GetProductId()) {
			resp.Gifts = append(resp.Gifts, gift)
		}
	}
	for _, id := range r.GetPictureIds() {
		if id == knownPicture && r.GetBrandId() == g.brandID {
			resp.PictureIds = append(resp.PictureIds, id)
		}
	}
	if r.HeroImageId != nil && r.GetBrandId() == g.brandID {
		resp.Greeting, resp.Hero = new("Welcome,\nall"), []*catalogv1.Image{{Url: "https://img.example.com/hero"}}
		resp.Categories = []*catalogv1.SelectionCategory{{Code: "HOME", Name: "Home"}}
	}
	return resp, nil
}

func (g *gifts) GetOrderedGift(
	ctx context.Context, r *catalogv1.GetOrderedGiftRequest, _ ...grpc.CallOption,
) (*catalogv1.GetOrderedGiftResponse, error) {
	if g.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if g.failure != nil {
		return nil, g.failure
	}
	for _, gift := range slices.Concat(g.gifts, g.former) {
		if gift.GetProductId() == r.GetProductId() {
			shown := proto.CloneOf(gift)
			shown.Name += " in " + r.GetLocale()
			return &catalogv1.GetOrderedGiftResponse{Gift: shown}, nil
		}
	}
	return nil, problem.RecordNotFound()
}
