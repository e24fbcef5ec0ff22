package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (p *platform) promisesOfAuthentication(t *testing.T) {
	s := p.newShop(t, false)
	t.Run("every call but images carries a bearer key", func(t *testing.T) {
		for _, authorization := range []string{"Basic " + s.key, s.key, "Bearer", "Token " + s.key} {
			bare := call{method: http.MethodGet, path: "/me", header: map[string]string{"Authorization": authorization}}
			requireProblem(t, s.do(t, bare), http.StatusUnauthorized, "invalid_api_key")
		}
		require.Equal(t, http.StatusOK, s.get(t, s.key, "/me").status)
	})
	t.Run("a key is its tenant's", func(t *testing.T) {
		tenant, _ := s.me(t, s.key)
		require.Equal(t, s.tenant, tenant["id"])
	})
	t.Run("a sandbox key starts with the sandbox prefix", func(t *testing.T) {
		sandbox := s.read(t, "/me")["environment"] == "sandbox"
		require.Equal(t, sandbox, strings.HasPrefix(s.key, "gft_sbx_"), "and one of production does not")
	})
	made := s.makeKey(t, nil)
	t.Run("a key is shown once, when it is made", func(t *testing.T) {
		require.NotEmpty(t, made.GetApiKey())
		require.NotEqual(t, made.GetApiKey(), s.makeKey(t, nil).GetApiKey())
		require.NotContains(t, made.GetKey().String(), made.GetApiKey(), "the record of a key is not the key")
		require.NotContains(t, s.get(t, made.GetApiKey(), "/me").body, made.GetApiKey())
	})
	t.Run("a key has the scopes it was given", func(t *testing.T) {
		narrow := s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.Scopes = []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS} })
		require.Equal(t, http.StatusOK, s.get(t, narrow.GetApiKey(), "/orders").status)
		requireProblem(t, s.get(t, narrow.GetApiKey(), "/brands"), http.StatusForbidden, "insufficient_scope")
	})
	t.Run("a key of every brand reaches brands that come later", func(t *testing.T) {
		later := uuid.NewString()
		s.putBrand(t, &tenantsv1.Brand{Id: later, Name: "Later", Slug: "later"})
		require.Contains(t, s.brandsOf(t, s.key), later)
		require.NotContains(t, s.brandsOf(t, s.keyOf(t, s.brand)), later)
	})
	s.promisesOfRefusedKeys(t, made)
	t.Run("a key without the scope is refused and told which one it lacks", func(t *testing.T) {
		catalog := s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.Scopes = []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG} }).GetApiKey()
		for path, scope := range map[string]string{"/orders": "ORDERS", "/personal-links": "PERSONAL_LINKS"} {
			require.Contains(t, requireProblem(t, s.get(t, catalog, path), http.StatusForbidden, "insufficient_scope")["detail"], scope)
		}
	})
	limited := s.keyOf(t, s.other)
	s.promisesOfReach(t, limited)
	s.promisesOfSecrets(t)
	t.Run("no call of a key approves anything", func(t *testing.T) {
		waiting := p.newShop(t, true)
		order, link := "/orders/"+idOf(waiting.place(t)), "/personal-links/"+idOf(waiting.link(t))
		for _, path := range []string{order, link} {
			for _, action := range []string{":approve", "/approve", ":start"} {
				requireProblem(t, s.post(t, waiting.key, path+action, "{}"), http.StatusNotFound, "not_found")
			}
			require.Equal(t, "REQUESTED", waiting.read(t, path)["status"])
		}
	})
	t.Run("access switched off refuses every key of the tenant", func(t *testing.T) {
		s.putTenant(t, func(settings *tenantsv1.PutTenantRequest) { settings.ApiAccess = false })
		for _, key := range []string{s.key, limited} {
			s.refusesKey(t, key)
		}
		s.putTenant(t, func(*tenantsv1.PutTenantRequest) {})
		require.Equal(t, http.StatusOK, s.get(t, s.key, "/me").status)
	})
}

func (s *shop) refusesKey(t *testing.T, key string) {
	t.Helper()
	requireProblem(t, s.get(t, key, "/me"), http.StatusUnauthorized, "invalid_api_key")
}

// promisesOfRefusedKeys is of keys that are none, or not any more.
func (s *shop) promisesOfRefusedKeys(t *testing.T, made *tenantsv1.CreateKeyResponse) {
	t.Run("a call without a key is refused", func(t *testing.T) { s.refusesKey(t, "") })
	t.Run("a malformed key is refused", func(t *testing.T) {
		for _, key := range []string{"x", s.key + "x", s.key[:len(s.key)-1], strings.ToUpper(s.key)} {
			s.refusesKey(t, key)
		}
	})
	t.Run("an unknown key is refused", func(t *testing.T) { s.refusesKey(t, apikey.New(apikey.Sandbox)) })
	t.Run("a key of the other environment is refused", func(t *testing.T) {
		for _, environment := range []apikey.Environment{apikey.Production, apikey.Sandbox} {
			s.refusesKey(t, apikey.New(environment))
		}
		s.refusesKey(t, strings.Replace(s.key, "_sbx_", "_live_", 1)+"x")
	})
	t.Run("a revoked key is refused from the next request on", func(t *testing.T) {
		require.Equal(t, http.StatusOK, s.get(t, made.GetApiKey(), "/me").status)
		_, err := s.operations(t).RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{KeyId: made.GetKey().GetId()})
		require.NoError(t, err)
		s.refusesKey(t, made.GetApiKey())
	})
}

// promisesOfReach is of what a key of another brand may name in a write.
func (s *shop) promisesOfReach(t *testing.T, limited string) {
	stranger := s.newShop(t, false).key
	campaign := s.campaign(t, -1, s.putGift(t, "S"))
	for _, c := range []struct {
		promise, code string
		order, batch  change
	}{
		{"a brand out of reach is brand_not_found in a write", "brand_not_found", with("brandId", s.brand), with("brandId", s.brand)},
		{"a campaign out of reach is campaign_not_found in a write", "campaign_not_found", ofCampaign(campaign.GetId()), fromCampaign(campaign.GetId())},
	} {
		t.Run(c.promise, func(t *testing.T) {
			for _, key := range []string{stranger, limited} {
				requireProblem(t, s.post(t, key, "/orders", s.body(t, c.order)), http.StatusUnprocessableEntity, c.code)
				requireProblem(t, s.post(t, key, batches, s.batchOf(t, c.batch)), http.StatusUnprocessableEntity, c.code)
			}
		})
	}
}

// promisesOfSecrets is of what signs webhooks.
func (s *shop) promisesOfSecrets(t *testing.T) {
	const secret = `^[0-9a-f]{64}$`
	made := s.makeKey(t, nil)
	rotate := func(t *testing.T) string {
		t.Helper()
		rotated, err := s.operations(t).RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: made.GetKey().GetId()})
		require.NoError(t, err)
		return rotated.GetWebhookSecret()
	}
	t.Run("the secret is 64 hexadecimal characters, shown when made or rotated", func(t *testing.T) {
		require.Regexp(t, secret, made.GetWebhookSecret())
		rotated := rotate(t)
		require.Regexp(t, secret, rotated)
		require.NotEqual(t, made.GetWebhookSecret(), rotated)
	})
	t.Run("the secret is never returned by the API", func(t *testing.T) {
		current := rotate(t)
		for _, path := range []string{"/me", "/events", "/brands"} {
			require.NotContains(t, s.get(t, made.GetApiKey(), path).body, current)
		}
	})
	t.Run("the webhook URL is set on the key", func(t *testing.T) {
		receiver := s.hook(t)
		require.Empty(t, receiver.all(t))
		s.place(t)
		require.Eventually(t, func() bool { return len(receiver.all(t)) == 1 }, slow, 50*time.Millisecond)
	})
	t.Run("a rotated secret signs at once and the old one no longer", func(t *testing.T) {
		receiver := s.hook(t)
		rotated, err := s.operations(t).RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: receiver.keyID})
		require.NoError(t, err)
		s.place(t)
		require.Eventually(t, func() bool { return len(receiver.all(t)) == 1 }, slow, 50*time.Millisecond)
		require.True(t, signed(receiver.all(t)[0], rotated.GetWebhookSecret()))
		require.False(t, signed(receiver.all(t)[0], receiver.secret))
	})
}
