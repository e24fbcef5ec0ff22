package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
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
	requirement(t, "AUT-21", func(t *testing.T) {
		changed := f.makeKey(t)
		require.Contains(t, f.brandsOf(t, changed.GetApiKey()), f.brand)
		update := func(grants *tenantsv1.UpdateKeyRequest) {
			grants.TenantId, grants.KeyId, grants.Actor, grants.Name = f.tenant, changed.GetKey().GetId(), operator, "Changed"
			_, err := f.Tenants(t).UpdateKey(t.Context(), grants)
			require.NoError(t, err)
		}
		update(&tenantsv1.UpdateKeyRequest{Scopes: harness.AllScopes(), BrandIds: []string{f.other}})
		require.NotContains(t, f.brandsOf(t, changed.GetApiKey()), f.brand)
		require.Contains(t, f.brandsOf(t, changed.GetApiKey()), f.other)
		update(&tenantsv1.UpdateKeyRequest{AllBrands: true})
		f.Get(t, changed.GetApiKey(), "/brands").Problem(t, "insufficient_scope")
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

// testRefusedKeys tries keys that were never valid or are no longer valid.
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
		_, err := f.Tenants(t).RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{
			Actor: operator, TenantId: f.tenant, KeyId: made.GetKey().GetId(),
		})
		require.NoError(t, err)
		f.requireRefused(t, made.GetApiKey())
	})
}

// testReach writes with keys that may not see the brand.
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

// testSecrets checks the secrets that sign webhooks.
func (f *fixture) testSecrets(t *testing.T) {
	const secret = `^[0-9a-f]{64}$`
	made := f.makeKey(t)
	rotate := func(t *testing.T) string {
		t.Helper()
		rotated, err := f.Tenants(t).RotateWebhookSecret(t.Context(),
			&tenantsv1.RotateWebhookSecretRequest{Actor: operator, TenantId: f.tenant, KeyId: made.GetKey().GetId()})
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
		set := func(url *string) {
			_, err := f.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
				Actor: f.administrator, TenantId: f.tenant, KeyId: receiver.keyID, Url: url,
			})
			require.NoError(t, err)
			_, own := f.me(t, receiver.key)
			if url == nil {
				require.Nil(t, own["webhookUrl"])
			} else {
				require.Equal(t, *url, own["webhookUrl"])
			}
		}
		set(nil)
		set(new(inboxURL(t, f.platform) + receiver.path))
		require.Empty(t, receiver.all(t))
		f.place(t)
		require.Eventually(t, func() bool { return len(receiver.all(t)) == 1 }, harness.Slow, 50*time.Millisecond)
	})
	requirement(t, "AUT-11", func(t *testing.T) {
		receiver := f.newReceiver(t)
		received, secret := f.rotate(t, receiver, nil)
		require.True(t, signedWith(received, secret))
		require.False(t, signedWith(received, receiver.secret))
	})
	requirement(t, "AUT-22", func(t *testing.T) {
		receiver := f.newReceiver(t)
		received, secret := f.rotate(t, receiver, durationpb.New(time.Hour))
		require.True(t, signedWith(received, secret))
		require.True(t, signedWith(received, receiver.secret))
	})
}

// rotate rotates the secret of a receiver and returns the next webhook and the new secret.
func (f *fixture) rotate(t *testing.T, r *receiver, overlap *durationpb.Duration) (received inbox.Delivery, secret string) {
	t.Helper()
	inboxURL(t, f.platform) // Without one the check is left out.
	rotated, err := f.Tenants(t).RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{
		Actor: f.administrator, TenantId: f.tenant, KeyId: r.keyID, Overlap: overlap,
	})
	require.NoError(t, err)
	f.place(t)
	require.Eventually(t, func() bool { return len(r.all(t)) == 1 }, harness.Slow, 50*time.Millisecond)
	return r.all(t)[0], rotated.GetWebhookSecret()
}

func testScopes(t *testing.T, p *platform) {
	f := newFixture(t, p)
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	order, link := "/orders/"+idOf(f.place(t)), "/personal-links/"+idOf(f.link(t))
	keys := map[string]string{}
	for _, scope := range harness.AllScopes() {
		name := strings.TrimPrefix(scope.String(), "SCOPE_")
		keys[name] = f.newKey(t, ofScope(scope))
	}
	for _, endpoint := range []struct{ id, method, path, body, scope string }{
		{"SCO-2", "GET", "/brands", "", "CATALOG"},
		{"SCO-3", "GET", "/catalog/products?country=SE", "", "CATALOG"},
		{"SCO-22", "GET", "/catalog/products/" + f.product + "?country=SE", "", "CATALOG"},
		{"SCO-21", "GET", "/catalog/categories", "", "CATALOG"},
		{"SCO-20", "GET", "/campaigns", "", "CATALOG"},
		{"SCO-5", "GET", "/campaigns/" + campaign.GetId(), "", "CATALOG"},
		{"SCO-6", "POST", "/orders", f.body(t), "ORDERS"},
		{"SCO-7", "GET", "/orders", "", "ORDERS"},
		{"SCO-8", "GET", order, "", "ORDERS"},
		{"SCO-9", "POST", order + ":update-delivery", `{"expectedVersion": 0}`, "ORDERS"},
		{"SCO-11", "GET", order + "/messages", "", "ORDERS"},
		{"SCO-12", "POST", order + "/messages", `{"body": "Hi."}`, "ORDERS"},
		{"SCO-10", "POST", order + ":cancel", `{"reason": "Other."}`, "ORDERS"},
		{"SCO-13", "POST", batches, f.batchOf(t), "PERSONAL_LINKS"},
		{"SCO-14", "GET", "/personal-links", "", "PERSONAL_LINKS"},
		{"SCO-15", "GET", link, "", "PERSONAL_LINKS"},
		{"SCO-16", "POST", link + ":cancel", `{"reason": "Other."}`, "PERSONAL_LINKS"},
	} {
		requirement(t, endpoint.id, func(t *testing.T) {
			for scope, key := range keys {
				if scope != endpoint.scope {
					a := f.Do(t, call{Method: endpoint.method, Path: endpoint.path, Key: key, Body: endpoint.body})
					require.Contains(t, a.Problem(t, "insufficient_scope")["detail"], endpoint.scope)
				}
			}
			a := f.Do(t, call{Method: endpoint.method, Path: endpoint.path, Key: keys[endpoint.scope], Body: endpoint.body})
			require.Less(t, a.Status, http.StatusMultipleChoices, a.Body)
		})
	}
	for _, endpoint := range []struct{ id, method, path string }{
		{"SCO-1", "GET", "/me"},
		{"SCO-17", "GET", "/events"},
		{"SCO-18", "POST", "/webhooks:test"},
		{"WHD-9", "GET", "/webhooks/deliveries"},
		{"WHH-5", "GET", "/webhooks/health"},
	} {
		requirement(t, endpoint.id, func(t *testing.T) {
			for _, key := range keys {
				require.Equal(t, http.StatusOK, f.Do(t, call{Method: endpoint.method, Path: endpoint.path, Key: key}).Status)
			}
			f.Do(t, call{Method: endpoint.method, Path: endpoint.path}).Problem(t, "invalid_api_key")
		})
	}
	requirement(t, "SCO-4", func(t *testing.T) {
		require.Equal(t, http.StatusOK, f.image(t, http.MethodGet, f.imagesOf(t, f.richGift(t).GetId())[0], nil).Status)
	})
	requirement(t, "SCO-19", func(t *testing.T) {
		require.NotEmpty(t, f.Feed(t, f.key))
		require.Empty(t, f.Feed(t, keys["CATALOG"]))
		require.Empty(t, f.Feed(t, f.newKey(t, ofBrand(f.other))))
		for scope, kind := range map[string]string{"ORDERS": "order.", "PERSONAL_LINKS": "personal_link."} {
			events := f.Feed(t, keys[scope])
			require.NotEmpty(t, events)
			for _, e := range events {
				require.True(t, strings.HasPrefix(e.Type, kind), e.Type)
			}
		}
	})
}

// testAudience checks which keys see which events in the feed.
func (f *fixture) testAudience(t *testing.T, claimed record) {
	requirement(t, "EVT-20", func(t *testing.T) {
		limited := f.newKey(t, ofBrand(f.other))
		elsewhere := f.place(t, with("brandId", f.other))
		f.requireEvents(t, limited, idOf(elsewhere), "order.created")
		require.Len(t, f.Feed(t, limited), 1)
	})
	requirement(t, "EVT-24", func(t *testing.T) {
		orderID, links := claimed["orderId"].(string), f.newKey(t, ofScope(commonv1.Scope_SCOPE_PERSONAL_LINKS))
		f.requireEvents(t, links, idOf(claimed), "personal_link.created", "personal_link.claimed")
		f.requireEvents(t, f.key, orderID, "order.created")
		for _, e := range f.Feed(t, links) {
			require.False(t, e.About(orderID))
		}
		var types []string
		for _, e := range f.Feed(t, f.key) {
			if strings.Contains(e.Raw, idOf(claimed)) {
				types = append(types, e.Type)
			}
		}
		require.Equal(t, []string{"personal_link.created", "order.created", "personal_link.claimed"}, types)
	})
	requirement(t, "EVT-22", func(t *testing.T) { f.requireEvents(t, f.key, idOf(f.place(t)), "order.created") })
	requirement(t, "EVT-23", func(t *testing.T) {
		order := idOf(f.place(t))
		require.Equal(t, http.StatusCreated, f.Post(t, f.key, "/orders/"+order+"/messages", `{"body": "Mine."}`).Status)
		f.postMessageAs(t, order, operator, "Theirs.")
		events := f.requireEvents(t, f.key, order, "order.created", "order.message_posted")
		require.Contains(t, events[1].Raw, "Theirs.")
		f.requireEvents(t, f.newKey(t), order, "order.created", "order.message_posted", "order.message_posted")
	})
	f.testPushing(t)
}

// testPushing checks which keys get which webhooks.
func (f *fixture) testPushing(t *testing.T) {
	one, two := f.newReceiver(t), f.newReceiver(t)
	requirement(t, "EVT-21", func(t *testing.T) {
		placed := f.Post(t, one.key, "/orders", f.body(t)).OK(t)
		sent := f.requireEvents(t, f.key, idOf(placed), "order.created")[0]
		two.await(t, sent.ID)
		later := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
		one.await(t, later.ID)
		path := "/orders/" + idOf(placed)
		require.Equal(t, http.StatusCreated, f.Post(t, one.key, path+"/messages", `{"body": "When?"}`).Status)
		message := f.requireEvents(t, two.key, idOf(placed), "order.created", "order.message_posted")[1]
		two.await(t, message.ID)
		one.await(t, f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0].ID)
		require.False(t, slices.ContainsFunc(one.all(t),
			func(d inbox.Delivery) bool { return eventOf(d) == sent.ID || eventOf(d) == message.ID }))
	})
	requirement(t, "EVT-15", func(t *testing.T) {
		before := len(two.all(t))
		require.Equal(t, http.StatusOK, f.Post(t, one.key, "/webhooks:test", "").Status)
		arrived := one.all(t)
		ping := harness.Object(t, []byte(arrived[len(arrived)-1].Raw))
		require.Equal(t, "ping", ping["type"])
		require.Equal(t, record{}, ping["data"])
		require.Len(t, two.all(t), before)
	})
	requirement(t, "EVT-3", func(t *testing.T) {
		sent := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
		occurred, err := time.Parse(time.RFC3339, sent.Object(t)["occurredAt"].(string))
		require.NoError(t, err)
		require.Less(t, one.await(t, sent.ID).ReceivedAt.Sub(occurred), 10*time.Second)
	})
	requirement(t, "EVT-4", func(t *testing.T) {
		sent := f.requireEvents(t, f.key, idOf(f.link(t)), "personal_link.created")[0]
		require.Equal(t, sent.Raw, one.await(t, sent.ID).Raw)
	})
}
