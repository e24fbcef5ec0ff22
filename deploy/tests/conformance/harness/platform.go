// Package harness drives a platform in tests, over REST and gRPC. It starts a platform in the test's process, or uses one that
// runs elsewhere. Each response and each webhook is validated against the OpenAPI document that the platform itself serves.
package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/contract"
	"github.com/partnergifting/platform/pkg/identity"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// Platform is a running platform with the variables of demo.env.
type Platform struct {
	// Config is the configuration of a platform that the test started; otherwise it has no name.
	Config local.Config
	Env    map[string]string
	// Programs are the environments of the programs of a platform started by the test.
	Programs map[identity.Name]map[string]string

	readContract func() (*contract.Contract, error)
	lock         sync.Mutex
	conns        map[string]*local.Conn
}

// Start runs a platform in this process until the test ends.
func Start(t *testing.T) *Platform {
	t.Helper()
	return StartWith(t, NewConfig(t))
}

// StartWith runs a platform with the configuration.
func StartWith(t *testing.T, cfg local.Config) *Platform {
	t.Helper()
	logs := func() string {
		text, err := os.ReadFile(filepath.Join(cfg.Dir, "stack.log"))
		require.NoError(t, err)
		return string(text)
	}
	stack, err := local.Start(t.Context(), cfg)
	if err != nil {
		require.NoError(t, err, "stack.log:\n%s", logs())
	}
	t.Cleanup(func() {
		require.NoError(t, stack.Stop(t.Context()))
		RequireNoPersonalData(t, logs())
		requireNoClaimToken(t, logs())
	})
	p := New(t, cfg, stack.Env)
	p.Programs = stack.Programs
	return p
}

// Open uses the platform that GIFTING_URL names. Without it, Open starts one.
func Open(t *testing.T) *Platform {
	t.Helper()
	if os.Getenv("GIFTING_URL") == "" {
		return Start(t)
	}
	env := map[string]string{}
	for _, line := range os.Environ() {
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "GIFTING_") {
			env[name] = value
		}
	}
	for _, name := range []string{
		"GIFTING_CA", "GIFTING_GRPC_TENANTS", "GIFTING_GRPC_CATALOG", "GIFTING_GRPC_ORDERS", "GIFTING_GRPC_LINKS", "GIFTING_GRPC_WEBHOOK",
	} {
		require.NotEmpty(t, env[name], "with GIFTING_URL, %s must be set too", name)
	}
	t.Logf("the platform is the one at %s", env["GIFTING_URL"])
	return New(t, local.Config{}, env)
}

// New returns a platform that is already running.
func New(t *testing.T, cfg local.Config, env map[string]string) *Platform {
	t.Helper()
	p := &Platform{Config: cfg, Env: env, conns: map[string]*local.Conn{}}
	p.readContract = sync.OnceValues(func() (*contract.Contract, error) { return readContract(env["GIFTING_URL"] + "/openapi.json") })
	t.Cleanup(func() {
		for _, conn := range p.conns {
			require.NoError(t, conn.Close())
		}
	})
	return p
}

// Remote reports whether the platform runs outside of this process.
func (p *Platform) Remote() bool { return p.Config.Name == "" }

// Conn connects to the service whose address the variable of demo.env holds.
func (p *Platform) Conn(t *testing.T, variable string) *local.Conn {
	t.Helper()
	p.lock.Lock()
	defer p.lock.Unlock()
	if _, ok := p.conns[variable]; !ok {
		conn, err := local.Dial(p.Env, variable)
		require.NoError(t, err)
		p.conns[variable] = conn
	}
	return p.conns[variable]
}

// Tenants manages tenants and their keys.
func (p *Platform) Tenants(t *testing.T) tenantsv1.TenantOperationsServiceClient {
	t.Helper()
	return tenantsv1.NewTenantOperationsServiceClient(p.Conn(t, "GIFTING_GRPC_TENANTS"))
}

// Catalog fills the catalog.
func (p *Platform) Catalog(t *testing.T) catalogv1.CatalogOperationsServiceClient {
	t.Helper()
	return catalogv1.NewCatalogOperationsServiceClient(p.Conn(t, "GIFTING_GRPC_CATALOG"))
}

// Products manages the prices of gifts.
func (p *Platform) Products(t *testing.T) catalogv1.ProductOperationsServiceClient {
	t.Helper()
	return catalogv1.NewProductOperationsServiceClient(p.Conn(t, "GIFTING_GRPC_CATALOG"))
}

// Logos keeps the logos of brands.
func (p *Platform) Logos(t *testing.T) catalogv1.BrandLogosServiceClient {
	t.Helper()
	return catalogv1.NewBrandLogosServiceClient(p.Conn(t, "GIFTING_GRPC_CATALOG"))
}

// Orders are the operations of people on orders.
func (p *Platform) Orders(t *testing.T) ordersv1.OrderOperationsServiceClient {
	t.Helper()
	return ordersv1.NewOrderOperationsServiceClient(p.Conn(t, "GIFTING_GRPC_ORDERS"))
}

// Links are the operations of people on personal links.
func (p *Platform) Links(t *testing.T) linksv1.PersonalLinkOperationsServiceClient {
	t.Helper()
	return linksv1.NewPersonalLinkOperationsServiceClient(p.Conn(t, "GIFTING_GRPC_LINKS"))
}

// GiftSite is the service for the pages of a personal link.
func (p *Platform) GiftSite(t *testing.T) linksv1.GiftSiteServiceClient {
	t.Helper()
	return linksv1.NewGiftSiteServiceClient(p.Conn(t, "GIFTING_GRPC_LINKS"))
}

// Webhooks shows the deliveries of webhooks.
func (p *Platform) Webhooks(t *testing.T) webhookv1.WebhookOperationsServiceClient {
	t.Helper()
	return webhookv1.NewWebhookOperationsServiceClient(p.Conn(t, "GIFTING_GRPC_WEBHOOK"))
}

// AllScopes are the scopes that a key can have.
func AllScopes() []commonv1.Scope {
	return []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS}
}

// PutTenant makes a tenant with one brand in a cell.
func (p *Platform) PutTenant(t *testing.T, id, brand, cell string) {
	t.Helper()
	_, err := p.Tenants(t).PutTenant(t.Context(), &tenantsv1.PutTenantRequest{
		Actor: seed.Installer, Id: id, Name: "Bee", Locales: []string{"sv-SE"}, Currency: seed.Currency, ApiAccess: true, Cell: cell,
	})
	require.NoError(t, err)
	_, err = p.Tenants(t).PutBrand(t.Context(), &tenantsv1.PutBrandRequest{
		Actor: seed.Installer, TenantId: id, Brand: &tenantsv1.Brand{Id: brand, Name: "Bee", Slug: "bee"},
	})
	require.NoError(t, err)
}

// NewKey makes a key of one of the demo's tenants, so that the test has its own rate limit.
func (p *Platform) NewKey(t *testing.T, tenantID string) *tenantsv1.CreateKeyResponse {
	t.Helper()
	return p.CreateKey(t, &tenantsv1.CreateKeyRequest{
		Actor: seed.Installer, TenantId: tenantID, Name: "End-to-end test", Scopes: AllScopes(), AllBrands: true,
	})
}

// DemoKey is a new key of the demo's tenant whose orders need no approval.
func (p *Platform) DemoKey(t *testing.T) string {
	t.Helper()
	return p.NewKey(t, seed.Direct).GetApiKey()
}

// CreateKey makes a key. On a remote platform it is revoked after the test.
func (p *Platform) CreateKey(t *testing.T, request *tenantsv1.CreateKeyRequest) *tenantsv1.CreateKeyResponse {
	t.Helper()
	made, err := p.Tenants(t).CreateKey(t.Context(), request)
	require.NoError(t, err)
	if p.Remote() {
		t.Cleanup(func() {
			_, err := p.Tenants(t).RevokeKey(context.WithoutCancel(t.Context()), &tenantsv1.RevokeKeyRequest{
				Actor: request.GetActor(), TenantId: request.GetTenantId(), KeyId: made.GetKey().GetId(),
			})
			require.NoError(t, err)
		})
	}
	return made
}

// PutDemo puts the demo's tenants and gifts again.
func (p *Platform) PutDemo(t *testing.T) error {
	t.Helper()
	return seed.PutDemo(t.Context(), p.Conn(t, "GIFTING_GRPC_TENANTS"), p.Conn(t, "GIFTING_GRPC_CATALOG"), true)
}
