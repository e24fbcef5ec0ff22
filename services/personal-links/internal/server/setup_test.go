package server_test

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/server"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// epoch is the time of the first link of a test.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123_456_000, time.UTC)

// bench is the public plane over real gRPC and PostgreSQL.
type bench struct {
	t      testing.TB
	pool   *pgxpool.Pool
	ring   *seal.Ring
	client linksv1.PersonalLinksServiceClient
	site   linksv1.GiftSiteServiceClient
	// operations is the operations plane.
	operations linksv1.PersonalLinkOperationsServiceClient
	store      *store.Store
	saga       *claims.Saga
	tenant     string
	// brand and campaign are the tenant's.
	brand, campaign string
	directory       *directory
	catalog         *gifts
	orders          *claimedOrders
}

func setup(t testing.TB) *bench {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	b := &bench{
		t: t, pool: pgtest.New(t, store.Migrations(), outbox.Migrations(), idempotency.Migrations()), ring: ring,
		tenant: newID(), brand: newID(), campaign: newID(), orders: newClaimedOrders(),
	}
	b.directory = &directory{settings: b.settings()}
	b.catalog = &gifts{campaignID: b.campaign, brandID: b.brand, gifts: []*catalogv1.SelectionGift{mug(), jersey()}}
	b.store = store.New(b.pool, ring)
	b.saga = &claims.Saga{
		Links: b.store, Orders: b.orders, Lease: claims.DefaultLease, Clock: time.Now,
		Log: slog.New(slog.DiscardHandler), Woken: func() {},
	}
	b.serve()
	return b
}

func (b *bench) serve() {
	b.t.Helper()
	tel := telemetry.Discard()
	s, err := rpc.NewServer(rpc.Config{}, tel, server.Collectors()...)
	require.NoError(b.t, err)
	linksv1.RegisterPersonalLinksServiceServer(s, &server.Public{
		Store: b.store, Ring: b.ring, Tenants: tenantcache.New(b.directory), Catalog: b.catalog, Claims: b.saga,
		ClaimURL: "https://gifts.example.com/c", Clock: time.Now,
	})
	linksv1.RegisterGiftSiteServiceServer(s, &server.GiftSite{
		Store: b.store, Tenants: b.directory, Catalog: b.catalog, Claims: b.saga,
	})
	linksv1.RegisterPersonalLinkOperationsServiceServer(s, &server.Operations{
		Store: b.store, Tenants: b.directory, Claims: b.saga, Clock: time.Now,
	})
	listener, err := (&net.ListenConfig{}).Listen(b.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b.t, err)
	go func() { _ = s.Serve(listener) }()
	b.t.Cleanup(s.Stop)
	conn, err := rpc.Dial(rpc.Target{Addr: listener.Addr().String()}, tel)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = conn.Close() })
	b.client, b.site = linksv1.NewPersonalLinksServiceClient(conn), linksv1.NewGiftSiteServiceClient(conn)
	b.operations = linksv1.NewPersonalLinkOperationsServiceClient(conn)
}

// The team of the tenant.
const (
	anAdministrator = "0198f2e4-0000-7000-8000-000000000001"
	aCoordinator    = "0198f2e4-0000-7000-8000-000000000002"
	aMember         = "0198f2e4-0000-7000-8000-000000000003"
	formerMember    = "0198f2e4-0000-7000-8000-000000000004"
)

func (b *bench) settings() *tenantsv1.GetTenantSettingsResponse {
	return &tenantsv1.GetTenantSettingsResponse{
		Tenant: &tenantsv1.Tenant{Id: b.tenant, Locales: []string{"en-US", "sv-SE"}},
		Brands: []*tenantsv1.Brand{{Id: b.brand, Name: "North Club", PrimaryColour: pointer("#102030")}},
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

// jersey comes in two sizes, of which one is gone.
func jersey() *catalogv1.SelectionGift {
	return &catalogv1.SelectionGift{
		ProductId: jerseyID, Name: "Jersey", Countries: []string{"SE"},
		Images:     []*catalogv1.Image{{Url: "https://img.example.com/1", Width: pointer[int32](640)}},
		Variations: []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M", "L"}}},
		Skus: []*catalogv1.SelectionSku{
			{Variations: map[string]string{"Size": "S"}, StockRemaining: pointer[int32](0)},
			{Variations: map[string]string{"Size": "M"}, StockRemaining: pointer[int32](3)},
		},
	}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// row is a link as a test puts it into the table.
type row struct {
	id, tenant, brand   string
	campaign, recipient *string
	status              string
	order               *string
	created, updated    time.Time
	approved            *time.Time
	claimed, cancelled  *time.Time
}

// link is an active link made n seconds after the epoch.
func (b *bench) link(n int) row {
	at := epoch.Add(time.Duration(n) * time.Second)
	return row{id: newID(), tenant: b.tenant, brand: newID(), status: "ACTIVE", created: at, updated: at}
}

func (r row) claimURL() string { return "https://gifts.example.com/c/" + r.id }

const insertLink = `INSERT INTO links (tenant_id, id, brand_id, campaign_id, external_recipient_id, status,
  claim_url_sealed, order_id, created_at, approved_at, claimed_at, cancelled_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

func (b *bench) tryInsert(ctx context.Context, r row) error {
	_, err := b.pool.Exec(ctx, insertLink, r.tenant, r.id, r.brand, r.campaign, r.recipient, r.status,
		b.ring.Seal([]byte(r.claimURL()), r.id), r.order, r.created, r.approved, r.claimed, r.cancelled, r.updated)
	return err
}

func (b *bench) insert(rows ...row) {
	b.t.Helper()
	for _, r := range rows {
		require.NoError(b.t, b.tryInsert(b.t.Context(), r))
	}
}

// as gives the context of a call of the principal with the faults the edge found.
func (b *bench) as(p caller.Principal, faults ...problem.Violation) context.Context {
	b.t.Helper()
	ctx, err := caller.Outgoing(b.t.Context(), p, caller.Request{Violations: faults})
	require.NoError(b.t, err)
	return ctx
}

func (b *bench) everyBrand() caller.Principal {
	return caller.Principal{TenantID: b.tenant, KeyID: 1, AllBrands: true}
}

func (b *bench) list(req *linksv1.ListPersonalLinksRequest) (*linksv1.ListPersonalLinksResponse, error) {
	return b.client.ListPersonalLinks(b.as(b.everyBrand()), req)
}

// ids of one page, which must be the last.
func (b *bench) ids(t *testing.T, p caller.Principal, req *linksv1.ListPersonalLinksRequest) []string {
	t.Helper()
	resp, err := b.client.ListPersonalLinks(b.as(p), req)
	require.NoError(t, err)
	require.Nil(t, resp.NextCursor)
	out := []string{}
	for _, item := range resp.GetItems() {
		out = append(out, item.GetId())
	}
	return out
}

// requireFaults demands an invalid_request with exactly these `field code` pairs.
func requireFaults(t *testing.T, err error, want ...string) {
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

func pointer[T any](v T) *T { return &v }
