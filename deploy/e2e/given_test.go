package e2e_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// openPlatform takes the one that GIFTING_URL names, and starts one in this process without it.
func openPlatform(t *testing.T) *platform {
	t.Helper()
	if os.Getenv("GIFTING_URL") == "" {
		return start(t)
	}
	p := &platform{env: map[string]string{}}
	t.Cleanup(func() { p.hangUp(t) })
	t.Cleanup(func() { p.tellUnchecked(t) })
	for _, line := range os.Environ() {
		if name, value, _ := strings.Cut(line, "="); strings.HasPrefix(name, "GIFTING_") {
			p.env[name] = value
		}
	}
	for _, name := range []string{
		"GIFTING_CA", "GIFTING_GRPC_TENANTS", "GIFTING_GRPC_CATALOG", "GIFTING_GRPC_ORDERS", "GIFTING_GRPC_LINKS", "GIFTING_GRPC_WEBHOOK",
	} {
		require.NotEmpty(t, p.env[name], "beside GIFTING_URL, %s must be set", name)
	}
	if p.env["GIFTING_KEY"] == "" {
		p.placeDemo(t)
	}
	p.passOver(t)
	t.Logf("the platform is the one at %s", p.env["GIFTING_URL"])
	return p
}

// placeDemo fills a platform that has no demo, and makes its keys for the time of the test.
func (p *platform) placeDemo(t *testing.T) {
	t.Helper()
	require.NoError(t, seed.Place(t.Context(), p.dial(t, "GIFTING_GRPC_TENANTS"), p.dial(t, "GIFTING_GRPC_CATALOG")))
	p.env["GIFTING_TENANT_APPROVAL"], p.env["GIFTING_APPROVER_ID"] = seed.Approving, seed.Approver
	p.env["GIFTING_BRAND_ID"], p.env["GIFTING_PRODUCT_ID"], p.env["GIFTING_CAMPAIGN_ID"] = seed.Brand, seed.Product, seed.Campaign
	catalog := []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG}
	for name, request := range map[string]*tenantsv1.CreateKeyRequest{
		"GIFTING_KEY": {TenantId: seed.Direct, Scopes: allScopes}, "GIFTING_KEY_APPROVAL": {TenantId: seed.Approving, Scopes: allScopes},
		"GIFTING_KEY_CATALOG": {TenantId: seed.Direct, Scopes: catalog}, "GIFTING_KEY_2": {TenantId: seed.Direct, Scopes: allScopes},
	} {
		request.Name, request.AllBrands = "end-to-end test", true
		if inbox := p.env["GIFTING_INBOX_URL"]; inbox != "" && name == "GIFTING_KEY_2" {
			address := inbox + "/webhooks"
			request.WebhookUrl = &address
		}
		made := p.createKey(t, request)
		p.env[name] = made.GetApiKey()
		if name == "GIFTING_KEY_2" {
			p.env["GIFTING_WEBHOOK_SECRET"] = made.GetWebhookSecret()
		}
	}
}

// ownStack skips a test that looks at what only a stack of this process shows.
func (p *platform) ownStack(t *testing.T, what string) {
	t.Helper()
	if p.config.Name == "" {
		p.leaveOut(t, "a platform that runs elsewhere does not show "+what)
	}
}
