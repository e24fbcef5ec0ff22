package conformance_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func testAuthentication(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "AUT-1", func(t *testing.T) {
		for _, authorization := range []string{"Basic " + f.key, f.key, "Bearer", "Token " + f.key} {
			bare := call{Method: http.MethodGet, Path: "/me", Header: map[string]string{"Authorization": authorization}}
			f.Do(t, bare).Problem(t, "invalid_api_key")
		}
		require.Equal(t, http.StatusOK, f.Get(t, f.key, "/me").Status)
	})
	requirement(t, "AUT-2", func(t *testing.T) {
		tenant, _ := f.me(t, f.key)
		require.Equal(t, f.tenant, tenant["id"])
	})
	requirement(t, "AUT-3", func(t *testing.T) {
		sandbox := f.read(t, "/me")["environment"] == "sandbox"
		require.Equal(t, sandbox, strings.HasPrefix(f.key, "gft_sbx_"), "and one of production does not")
	})
	made := f.makeKey(t)
	requirement(t, "AUT-4", func(t *testing.T) {
		require.NotEmpty(t, made.GetApiKey())
		require.NotEqual(t, made.GetApiKey(), f.newKey(t))
		require.NotContains(t, made.GetKey().String(), made.GetApiKey(), "the record of a key is not the key")
		require.NotContains(t, f.Get(t, made.GetApiKey(), "/me").Body, made.GetApiKey())
	})
	requirement(t, "AUT-14", func(t *testing.T) {
		narrow := f.newKey(t, ofScope(commonv1.Scope_SCOPE_ORDERS))
		require.Equal(t, http.StatusOK, f.Get(t, narrow, "/orders").Status)
		f.Get(t, narrow, "/brands").Problem(t, "insufficient_scope")
	})
	requirement(t, "AUT-15", func(t *testing.T) {
		later := uuid.NewString()
		f.putBrand(t, &tenantsv1.Brand{Id: later, Name: "Later", Slug: "later"})
		require.Contains(t, f.brandsOf(t, f.key), later)
		require.NotContains(t, f.brandsOf(t, f.newKey(t, ofBrand(f.brand))), later)
	})
	f.testRefusedKeys(t, made)
	requirement(t, "AUT-8", func(t *testing.T) {
		catalog := f.newKey(t, ofScope(commonv1.Scope_SCOPE_CATALOG))
		for path, scope := range map[string]string{"/orders": "ORDERS", "/personal-links": "PERSONAL_LINKS"} {
			require.Contains(t, f.Get(t, catalog, path).Problem(t, "insufficient_scope")["detail"], scope)
		}
	})
	limited := f.newKey(t, ofBrand(f.other))
	f.testReach(t, limited)
	f.testSecrets(t)
	requirement(t, "AUT-13", func(t *testing.T) {
		waiting := newFixture(t, p, approving)
		order, link := "/orders/"+idOf(waiting.place(t)), "/personal-links/"+idOf(waiting.link(t))
		for _, path := range []string{order, link} {
			for _, action := range []string{":approve", "/approve", ":start"} {
				f.Post(t, waiting.key, path+action, "{}").Problem(t, "not_found")
			}
			require.Equal(t, "REQUESTED", waiting.read(t, path)["status"])
		}
	})
	requirement(t, "AUT-20", func(t *testing.T) {
		f.putTenant(t, withoutAccess)
		for _, key := range []string{f.key, limited} {
			f.requireRefused(t, key)
		}
		f.putTenant(t)
		require.Equal(t, http.StatusOK, f.Get(t, f.key, "/me").Status)
	})
}

func (f *fixture) requireRefused(t *testing.T, key string) {
	t.Helper()
	f.Get(t, key, "/me").Problem(t, "invalid_api_key")
}

// testRefusedKeys tries keys that are not valid, or no longer.
func (f *fixture) testRefusedKeys(t *testing.T, made *tenantsv1.CreateKeyResponse) {
	requirement(t, "AUT-16", func(t *testing.T) { f.requireRefused(t, "") })
	requirement(t, "AUT-17", func(t *testing.T) {
		for _, key := range []string{"x", f.key + "x", f.key[:len(f.key)-1], strings.ToUpper(f.key)} {
			f.requireRefused(t, key)
		}
	})
	requirement(t, "AUT-18", func(t *testing.T) { f.requireRefused(t, apikey.New(apikey.Sandbox)) })
	requirement(t, "AUT-19", func(t *testing.T) {
		for _, environment := range []apikey.Environment{apikey.Production, apikey.Sandbox} {
			f.requireRefused(t, apikey.New(environment))
		}
		f.requireRefused(t, strings.Replace(f.key, "_sbx_", "_live_", 1)+"x")
	})
	requirement(t, "AUT-7", func(t *testing.T) {
		require.Equal(t, http.StatusOK, f.Get(t, made.GetApiKey(), "/me").Status)
		_, err := f.Tenants(t).RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{KeyId: made.GetKey().GetId()})
		require.NoError(t, err)
		f.requireRefused(t, made.GetApiKey())
	})
}

// testReach writes with keys that do not reach the brand.
func (f *fixture) testReach(t *testing.T, limited string) {
	stranger := newFixture(t, f.platform).key
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	for _, c := range []struct {
		id           string
		code         problem.Code
		order, batch change
	}{
		{"AUT-5", "brand_not_found", with("brandId", f.brand), with("brandId", f.brand)},
		{"AUT-6", "campaign_not_found", ofCampaign(campaign.GetId()), fromCampaign(campaign.GetId())},
	} {
		requirement(t, c.id, func(t *testing.T) {
			for _, key := range []string{stranger, limited} {
				f.Post(t, key, "/orders", f.body(t, c.order)).Problem(t, c.code)
				f.Post(t, key, batches, f.batchOf(t, c.batch)).Problem(t, c.code)
			}
		})
	}
}

// testSecrets is about the secrets that sign webhooks.
func (f *fixture) testSecrets(t *testing.T) {
	const secret = `^[0-9a-f]{64}$`
	made := f.makeKey(t)
	rotate := func(t *testing.T) string {
		t.Helper()
		rotated, err := f.Tenants(t).RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: made.GetKey().GetId()})
		require.NoError(t, err)
		return rotated.GetWebhookSecret()
	}
	requirement(t, "AUT-9", func(t *testing.T) {
		require.Regexp(t, secret, made.GetWebhookSecret())
		rotated := rotate(t)
		require.Regexp(t, secret, rotated)
		require.NotEqual(t, made.GetWebhookSecret(), rotated)
	})
	requirement(t, "AUT-10", func(t *testing.T) {
		current := rotate(t)
		for _, path := range []string{"/me", "/events", "/brands"} {
			require.NotContains(t, f.Get(t, made.GetApiKey(), path).Body, current)
		}
	})
	requirement(t, "AUT-12", func(t *testing.T) {
		receiver := f.newReceiver(t)
		require.Empty(t, receiver.all(t))
		f.place(t)
		require.Eventually(t, func() bool { return len(receiver.all(t)) == 1 }, harness.Slow, 50*time.Millisecond)
	})
	requirement(t, "AUT-11", func(t *testing.T) {
		receiver := f.newReceiver(t)
		rotated, err := f.Tenants(t).RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: receiver.keyID})
		require.NoError(t, err)
		f.place(t)
		require.Eventually(t, func() bool { return len(receiver.all(t)) == 1 }, harness.Slow, 50*time.Millisecond)
		require.True(t, signedWith(receiver.all(t)[0], rotated.GetWebhookSecret()))
		require.False(t, signedWith(receiver.all(t)[0], receiver.secret))
	})
}
