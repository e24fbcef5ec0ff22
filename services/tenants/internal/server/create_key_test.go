package server_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestCreateKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand, foreign := f.brand(tenant, "Aurora"), f.brand(other, "Borealis")
	t.Run("key and secret are in the answer, and nowhere in the table", func(t *testing.T) {
		made := f.key(tenant)
		env, err := apikey.Parse(made.GetApiKey())
		require.NoError(t, err)
		require.Equal(t, apikey.Sandbox, env)
		require.Regexp(t, `^[0-9a-f]{64}$`, made.GetWebhookSecret())
		require.True(t, strings.HasPrefix(made.GetApiKey(), made.GetKey().GetPrefix()))
		require.Nil(t, made.GetKey().GetBrandIds())
		require.Equal(t, []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG, commonv1.Scope_SCOPE_ORDERS}, made.GetKey().GetScopes())

		var row string
		require.NoError(t, f.pool.QueryRow(t.Context(),
			`SELECT k::text FROM api_keys k WHERE id = $1`, made.GetKey().GetId()).Scan(&row))
		require.Contains(t, row, hex.EncodeToString(apikey.Hash(made.GetApiKey())), "the row is the key's")
		decoded, err := hex.DecodeString(made.GetWebhookSecret())
		require.NoError(t, err)
		for _, secret := range []string{
			made.GetApiKey(), made.GetWebhookSecret(), string(decoded),
			hex.EncodeToString([]byte(made.GetApiKey())), hex.EncodeToString([]byte(made.GetWebhookSecret())),
		} {
			require.NotContains(t, row, secret)
		}
	})
	t.Run("the principal of a limited key names its brands and the tenant's version", func(t *testing.T) {
		made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			TenantId: tenant, Name: "Limited", BrandIds: []string{brand, strings.ToUpper(brand)},
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS, commonv1.Scope_SCOPE_PERSONAL_LINKS},
		})
		require.Equal(t, []string{brand}, made.GetKey().GetBrandIds().GetIds())
		require.NotEmpty(t, made.GetWebhookSecret(), "also without a webhook URL")
		principal, err := f.resolve(made.GetApiKey())
		require.NoError(t, err)
		require.Equal(t, (&commonv1.Principal{
			TenantId: tenant, KeyId: made.GetKey().GetId(), KeyName: "Limited",
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_PERSONAL_LINKS}, BrandIds: []string{brand},
			TenantVersion: f.settings(tenant).GetVersion(),
		}).String(), principal.String())
	})
	t.Run("a brand of another tenant is refused", func(t *testing.T) {
		before := f.settings(tenant).GetVersion()
		invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			TenantId: tenant, Name: "k", BrandIds: []string{brand, foreign, newID()},
		}, "brandIds[1] invalid", "brandIds[2] invalid")
		require.Equal(t, before, f.settings(tenant).GetVersion())
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			TenantId: "x", Name: strings.Repeat("n", 101), BrandIds: []string{"y"}, WebhookUrl: pointer(""),
			Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_UNSPECIFIED, 12},
		}, "tenantId invalid", "name too_long", "brandIds[0] invalid",
			"webhookUrl required", "scopes[1] invalid", "scopes[2] invalid")
		invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
			TenantId: tenant, Name: "k", AllBrands: true, BrandIds: []string{brand},
		}, "brandIds invalid")
	})

	for _, url := range []string{"http://example.com/x", "https://127.0.0.1/x", "https://10.0.0.1/", "https://localhost/", "ftp://example.com", "x"} {
		t.Run(fmt.Sprintf("webhook URL %s is refused", url), func(t *testing.T) {
			invalid(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: "k", WebhookUrl: &url}, "webhookUrl invalid")
		})
	}
	t.Run("a tenant that does not exist is not found", func(t *testing.T) {
		refused(t, problem.NotFound, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{TenantId: newID(), Name: "k"})
	})
}
