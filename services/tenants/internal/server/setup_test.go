package server_test

import (
	"context"
	"encoding/base64"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/moves"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/privacy"
	"github.com/partnergifting/platform/services/tenants/internal/server"
	"github.com/partnergifting/platform/services/tenants/internal/store"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// fixture has clients of the three planes over gRPC, PostgreSQL and Redis.
type fixture struct {
	t         *testing.T
	pool      *pgxpool.Pool
	redis     *redis.Client
	public    tenantsv1.TenantsServiceClient
	directory tenantsv1.DirectoryServiceClient
	ops       tenantsv1.TenantOperationsServiceClient
	privacy   tenantsv1.PrivacyOperationsServiceClient
	// offboarding has orders as the only other service.
	offboarding tenantsv1.OffboardingOperationsServiceClient
	cells       tenantsv1.CellOperationsServiceClient
	// orders and links are fakes of the services that store personal data.
	orders, links *records
	eventService  *eventService
	coordinator   *privacy.Coordinator
}

func ringOf(t *testing.T, id, fill string) *seal.Ring {
	t.Helper()
	ring, err := seal.ParseRing(keyOf(id, fill))
	require.NoError(t, err)
	return ring
}

// keyOf is an entry of a key ring.
func keyOf(id, fill string) string {
	return id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32)))
}

// setup makes a fixture in which every row has a twin of another tenant.
func setup(t *testing.T) *fixture {
	t.Helper()
	f := setupWithoutTwins(t)
	for _, sql := range []string{
		"ALTER TABLE brands DROP CONSTRAINT brands_one_tenant",
		"ALTER TABLE team_members DROP CONSTRAINT team_members_one_tenant",
		"ALTER TABLE custom_fields DROP CONSTRAINT custom_fields_one_tenant",
		"INSERT INTO tenants (id, name, locales, currency, approval_required, api_access) " +
			"VALUES ('" + pgtest.TwinTenant + "', 'Twin', '{en-US}', 'EUR', false, true)",
	} {
		pgtest.Exec(t, f.pool, sql)
	}
	pgtest.Twin(t, f.pool, map[string]string{
		"brands":       "twin.name := 'Twin';",
		"team_members": "twin.name := 'Twin';",
		"custom_fields": "twin.label := 'Twin'; twin.options := '{}'; " +
			"twin.type := CASE NEW.type WHEN 'TEXT' THEN 'CHECKBOX' ELSE 'TEXT' END;",
		"api_keys":     "twin.id := -NEW.id; twin.name := 'Twin'; twin.hash := sha256(NEW.hash);",
		"tenant_audit": "twin.id := gen_random_uuid(); twin.actor_id := 'twin';",
	})
	return f
}

// setupWithoutTwins is for tests with SQL of their own, which counts or changes the rows of all tenants.
func setupWithoutTwins(t *testing.T) *fixture {
	t.Helper()
	pool := pgtest.New(t, idempotency.Migrations(), store.Migrations())
	return serve(t, pool, ringOf(t, "k1", "a"))
}

func serve(t *testing.T, pool *pgxpool.Pool, ring *seal.Ring) *fixture {
	t.Helper()
	url := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(url)
	require.NoError(t, err)
	f := &fixture{
		t: t, pool: pool, redis: redis.NewClient(opts), orders: &records{orders: true}, links: &records{}, eventService: &eventService{},
	}
	t.Cleanup(func() { _ = f.redis.Close() })

	conn, err := rpc.Dial(rpc.Target{Addr: f.listen(rpc.Config{}, ring)}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	f.public = tenantsv1.NewTenantsServiceClient(conn)
	f.directory = tenantsv1.NewDirectoryServiceClient(conn)
	f.ops = tenantsv1.NewTenantOperationsServiceClient(conn)
	f.privacy = tenantsv1.NewPrivacyOperationsServiceClient(conn)
	f.offboarding = tenantsv1.NewOffboardingOperationsServiceClient(conn)
	f.cells = tenantsv1.NewCellOperationsServiceClient(conn)
	return f
}

// listen serves the fixture's database until the test ends and returns the address.
func (f *fixture) listen(cfg rpc.Config, ring *seal.Ring) string {
	t, pool := f.t, f.pool
	t.Helper()
	url := testenv.Require(t, testenv.RedisURL)
	tel := telemetry.Discard()
	publisher, err := versions.Open(url, tel)
	require.NoError(t, err)
	t.Cleanup(func() { _ = publisher.Close() })
	s, err := rpc.NewServer(cfg, tel)
	require.NoError(t, err)
	f.coordinator = privacy.New(privacy.Deps{
		Store: store.New(pool), Orders: f.orders, Links: f.links, Ring: ring,
		Events: []privacyv1.RecordEventsServiceClient{f.eventService}, Backups: 35 * 24 * time.Hour, Log: tel.Logger, Now: time.Now,
	})
	mover, err := moves.New(moves.Deps{Store: store.New(pool), Publisher: publisher, Log: tel.Logger}, tel)
	require.NoError(t, err)
	server.Register(s, server.Deps{
		Moves: mover, Store: store.New(pool), Versions: publisher, Ring: ring, Privacy: f.coordinator, Log: tel.Logger, Now: time.Now,
		Holders: []offboarding.Holder{{Name: identity.Orders, Data: pages{}}}, Own: store.TenantData(pool),
		Currencies: f,
	}, server.Config{Environment: apikey.Sandbox, LoopbackWebhooks: true, OffboardingGrace: 30 * 24 * time.Hour})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	return listener.Addr().String()
}

// CheckCurrency is the catalog, which has rates of EUR and SEK and is down for DKK.
func (f *fixture) CheckCurrency(
	_ context.Context, req *catalogv1.CheckCurrencyRequest, _ ...grpc.CallOption,
) (*catalogv1.CheckCurrencyResponse, error) {
	if req.GetCurrency() == "DKK" {
		return nil, problem.Unavailable()
	}
	return &catalogv1.CheckCurrencyResponse{Priced: req.GetCurrency() == "EUR" || req.GetCurrency() == "SEK"}, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// tenantRequest is a request for a tenant with every setting.
func tenantRequest(id string) *tenantsv1.PutTenantRequest {
	return &tenantsv1.PutTenantRequest{
		Actor: staff, Id: id, Name: "Nordic Play", Locales: []string{"sv-SE"}, Currency: "EUR", ApiAccess: true,
	}
}

func (f *fixture) tenant() string {
	f.t.Helper()
	id := newID()
	call(f.t, f.ops.PutTenant, tenantRequest(id))
	return id
}

func (f *fixture) brand(tenantID, name string) string {
	f.t.Helper()
	id := newID()
	call(f.t, f.ops.PutBrand, &tenantsv1.PutBrandRequest{
		Actor: staff, TenantId: tenantID, Brand: &tenantsv1.Brand{Id: id, Name: name, Slug: strings.ToLower(name)},
	})
	return id
}

// createKey creates a key of the tenant with all scopes and brands and a webhook.
func (f *fixture) createKey(tenantID string) *tenantsv1.CreateKeyResponse {
	f.t.Helper()
	url := "https://hooks.example.com/gifts"
	made, err := f.ops.CreateKey(f.t.Context(), &tenantsv1.CreateKeyRequest{
		Actor: staff, TenantId: tenantID, Name: "Shop", AllBrands: true, WebhookUrl: &url,
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_CATALOG},
	})
	require.NoError(f.t, err)
	return made
}

func (f *fixture) resolve(apiKey string) (*commonv1.Principal, error) {
	resp, err := f.directory.ResolveKey(f.t.Context(), &tenantsv1.ResolveKeyRequest{KeyHash: apikey.Hash(apiKey)})
	return resp.GetPrincipal(), err
}

// keyContext returns the context of a public call with the key.
func (f *fixture) keyContext(apiKey string) context.Context {
	f.t.Helper()
	principal, err := f.resolve(apiKey)
	require.NoError(f.t, err)
	ctx, err := caller.Outgoing(f.t.Context(), caller.FromProto(principal), caller.Request{})
	require.NoError(f.t, err)
	return ctx
}

func (f *fixture) settings(tenantID string) *tenantsv1.GetTenantSettingsResponse {
	f.t.Helper()
	s, err := f.directory.GetTenantSettings(f.t.Context(), &tenantsv1.GetTenantSettingsRequest{TenantId: tenantID})
	require.NoError(f.t, err)
	return s
}

func (f *fixture) endpoint(keyID int32) *tenantsv1.Endpoint {
	f.t.Helper()
	resp, err := f.directory.GetEndpoints(f.t.Context(), &tenantsv1.GetEndpointsRequest{KeyIds: []int32{keyID}})
	require.NoError(f.t, err)
	require.Len(f.t, resp.GetEndpoints(), 1)
	return resp.GetEndpoints()[0]
}

func (f *fixture) setAccess(tenantID string, on bool) {
	f.t.Helper()
	req := tenantRequest(tenantID)
	req.ApiAccess = on
	call(f.t, f.ops.PutTenant, req)
}

// method is an RPC of a client.
type method[Req, Resp any] = func(ctx context.Context, req Req, opts ...grpc.CallOption) (Resp, error)

// call makes a call that must succeed.
func call[Req, Resp any](t *testing.T, rpc method[Req, Resp], req Req) Resp {
	t.Helper()
	resp, err := rpc(t.Context(), req)
	require.NoError(t, err)
	return resp
}

// requireRefused makes a call that must be refused with the code.
func requireRefused[Req, Resp any](t *testing.T, code problem.Code, rpc method[Req, Resp], req Req) {
	t.Helper()
	_, err := rpc(t.Context(), req)
	require.True(t, problem.Is(err, code), "%v", err)
}

// invalid makes a call that must be refused with exactly these pairs of field and code.
func invalid[Req, Resp any](t *testing.T, rpc method[Req, Resp], req Req, want ...string) {
	t.Helper()
	_, err := rpc(t.Context(), req)
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
