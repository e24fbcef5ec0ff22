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

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/server"
	"github.com/partnergifting/platform/services/tenants/internal/store"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// bench is the three planes over real gRPC, PostgreSQL and Redis.
type bench struct {
	t         *testing.T
	pool      *pgxpool.Pool
	redis     *redis.Client
	public    tenantsv1.TenantsServiceClient
	directory tenantsv1.DirectoryServiceClient
	ops       tenantsv1.TenantOperationsServiceClient
}

func ringOf(t *testing.T, id, fill string) *seal.Ring {
	t.Helper()
	ring, err := seal.ParseRing(id + ":" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fill, 32))))
	require.NoError(t, err)
	return ring
}

func setup(t *testing.T) *bench {
	t.Helper()
	pool := pgtest.New(t, store.Migrations())
	return serve(t, pool, ringOf(t, "k1", "a"))
}

func serve(t *testing.T, pool *pgxpool.Pool, ring *seal.Ring) *bench {
	t.Helper()
	url := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(url)
	require.NoError(t, err)
	b := &bench{t: t, pool: pool, redis: redis.NewClient(opts)}
	t.Cleanup(func() { _ = b.redis.Close() })

	tel := telemetry.Discard()
	publisher, err := versions.Open(url, tel.Logger)
	require.NoError(t, err)
	t.Cleanup(func() { _ = publisher.Close() })
	records := store.New(pool)
	s, err := rpc.NewServer(rpc.Config{}, tel)
	require.NoError(t, err)
	tenantsv1.RegisterTenantsServiceServer(s, server.NewPublic(records, apikey.Sandbox))
	tenantsv1.RegisterDirectoryServiceServer(s, server.NewDirectory(records, ring, tel.Logger))
	tenantsv1.RegisterTenantOperationsServiceServer(s, server.NewOperations(records, publisher, ring,
		server.Settings{Environment: apikey.Sandbox, Now: time.Now}))
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := rpc.Dial(rpc.Target{Addr: listener.Addr().String()}, tel)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	b.public = tenantsv1.NewTenantsServiceClient(conn)
	b.directory = tenantsv1.NewDirectoryServiceClient(conn)
	b.ops = tenantsv1.NewTenantOperationsServiceClient(conn)
	return b
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// tenantRequest is a tenant with every setting in place.
func tenantRequest(id string) *tenantsv1.PutTenantRequest {
	return &tenantsv1.PutTenantRequest{
		Id: id, Name: "Nordic Play", Locales: []string{"sv-SE"}, Currency: "EUR", ApiAccess: true,
	}
}

func (b *bench) tenant() string {
	b.t.Helper()
	id := newID()
	_, err := b.ops.PutTenant(b.t.Context(), tenantRequest(id))
	require.NoError(b.t, err)
	return id
}

func (b *bench) brand(tenantID, name string) string {
	b.t.Helper()
	id := newID()
	_, err := b.ops.PutBrand(b.t.Context(), &tenantsv1.PutBrandRequest{
		TenantId: tenantID, Brand: &tenantsv1.Brand{Id: id, Name: name, Slug: strings.ToLower(name)},
	})
	require.NoError(b.t, err)
	return id
}

// key makes a key of the tenant with all scopes and brands and a webhook.
func (b *bench) key(tenantID string) *tenantsv1.CreateKeyResponse {
	b.t.Helper()
	url := "https://hooks.example.com/gifts"
	made, err := b.ops.CreateKey(b.t.Context(), &tenantsv1.CreateKeyRequest{
		TenantId: tenantID, Name: "Shop", AllBrands: true, WebhookUrl: &url,
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_CATALOG},
	})
	require.NoError(b.t, err)
	return made
}

func (b *bench) resolve(apiKey string) (*commonv1.Principal, error) {
	resp, err := b.directory.ResolveKey(b.t.Context(), &tenantsv1.ResolveKeyRequest{KeyHash: apikey.Hash(apiKey)})
	return resp.GetPrincipal(), err
}

// as gives the context of a public call of the key.
func (b *bench) as(apiKey string) context.Context {
	b.t.Helper()
	principal, err := b.resolve(apiKey)
	require.NoError(b.t, err)
	ctx, err := caller.Outgoing(b.t.Context(), caller.FromProto(principal), caller.Request{})
	require.NoError(b.t, err)
	return ctx
}

func (b *bench) settings(tenantID string) *tenantsv1.GetTenantSettingsResponse {
	b.t.Helper()
	s, err := b.directory.GetTenantSettings(b.t.Context(), &tenantsv1.GetTenantSettingsRequest{TenantId: tenantID})
	require.NoError(b.t, err)
	return s
}

func (b *bench) endpoint(keyID int32) *tenantsv1.Endpoint {
	b.t.Helper()
	resp, err := b.directory.GetEndpoints(b.t.Context(), &tenantsv1.GetEndpointsRequest{KeyIds: []int32{keyID}})
	require.NoError(b.t, err)
	require.Len(b.t, resp.GetEndpoints(), 1)
	return resp.GetEndpoints()[0]
}

func (b *bench) setAccess(tenantID string, on bool) {
	b.t.Helper()
	req := tenantRequest(tenantID)
	req.ApiAccess = on
	_, err := b.ops.PutTenant(b.t.Context(), req)
	require.NoError(b.t, err)
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

func requireProblem(t *testing.T, err error, code problem.Code) {
	t.Helper()
	require.True(t, problem.Is(err, code), "%v", err)
}

func pointer[T any](v T) *T { return &v }
