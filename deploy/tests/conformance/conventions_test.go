package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func testConventions(t *testing.T, p *platform) {
	f := newFixture(t, p)
	order := f.place(t)
	requirement(t, "CON-1", func(t *testing.T) {
		for _, path := range []string{":cancel", ":update-delivery"} {
			f.Post(t, f.key, "/orders/"+idOf(order)+path, "{}").Problem(t, "invalid_request")
			f.Post(t, f.key, "/orders/"+idOf(order)+strings.Replace(path, ":", "/", 1), "{}").Problem(t, "not_found")
		}
		f.Post(t, f.key, "/personal-links:create-batch", "{}").Problem(t, "invalid_request")
		require.Equal(t, http.StatusOK, f.Post(t, f.key, "/webhooks:test", "").Status)
	})
	requirement(t, "CON-2", func(t *testing.T) {
		for _, path := range []string{
			"/orders", "/orders/" + idOf(order) + ":cancel", "/orders/" + idOf(order) + ":update-delivery",
			"/orders/" + idOf(order) + "/messages",
			"/personal-links:create-batch", "/personal-links/" + uuid.NewString() + ":cancel", "/webhooks:test",
		} {
			bare := f.postCall(path, "{}")
			bare.Header = map[string]string{"Idempotency-Key": ""}
			f.Do(t, bare).Problem(t, "idempotency_key_required")
		}
	})
	requirement(t, "CON-3", func(t *testing.T) {
		dropped, withdrawn := f.place(t), f.link(t)
		for path, body := range map[string]string{
			"/orders": f.body(t), "/orders/" + idOf(order) + "/messages": `{"body": "Once."}`, batches: f.batchOf(t),
			"/orders/" + idOf(order) + ":update-delivery":    `{"expectedVersion": 0, "urgent": true}`,
			"/orders/" + idOf(dropped) + ":cancel":           `{"reason": "Other."}`,
			"/personal-links/" + idOf(withdrawn) + ":cancel": `{"reason": "Other."}`,
		} {
			request := f.postCall(path, body)
			request.IdempotencyKey = rand.Text()
			first, second := f.Do(t, request), f.Do(t, request)
			require.Less(t, first.Status, 300, first.Body)
			require.Equal(t, first.Body, second.Body)
			require.Equal(t, first.Status, second.Status)
			require.Equal(t, "true", second.Header.Get("Idempotent-Replayed"))
		}
		require.Len(t, f.list(t, f.key, "/orders"), 3)
		require.Len(t, f.list(t, f.key, "/personal-links"), 2)
		require.Len(t, f.messages(t, f.key, idOf(order)), 1)
		require.InDelta(t, 1, f.read(t, "/orders/"+idOf(order))["version"], 0)
		f.requireEvents(t, f.key, idOf(dropped), "order.created", "order.status_changed")
		f.requireEvents(t, f.key, idOf(withdrawn), "personal_link.created", "personal_link.cancelled")
	})
	requirement(t, "CON-13", func(t *testing.T) {
		path := "/orders/" + idOf(f.place(t))
		request := f.postCall(path+":cancel", `{"reason": "Other."}`)
		request.IdempotencyKey = rand.Text()
		first := f.Do(t, request)
		f.correctStatus(t, path[len("/orders/"):], processing)
		reopened, second := f.read(t, path), f.Do(t, request)
		require.Equal(t, []any{http.StatusOK, first.Body}, []any{second.Status, second.Body})
		require.Equal(t, "CANCELLED", second.Object(t)["status"])
		require.Equal(t, "PROCESSING", reopened["status"])
		require.Equal(t, reopened, f.read(t, path))
	})
	requirement(t, "CON-15", func(t *testing.T) {
		id := idOf(f.place(t))
		request := f.postCall("/orders/"+id+":cancel", `{"reason": "Other."}`)
		request.IdempotencyKey = rand.Text()
		first := f.Do(t, request)
		request.Path = "/orders/" + strings.ToUpper(id) + ":cancel"
		second := f.Do(t, request)
		require.Equal(t, []any{http.StatusOK, first.Body, "true"},
			[]any{second.Status, second.Body, second.Header.Get("Idempotent-Replayed")})
	})
	requirement(t, "CON-14", func(t *testing.T) {
		for _, contentType := range []string{"application/x-www-form-urlencoded", "text/plain", "application/json"} {
			empty := f.postCall("/webhooks/deliveries/"+uuid.NewString()+":resend", "")
			empty.Header = map[string]string{"Content-Type": contentType}
			f.Send(t, empty).Problem(t, "not_found")
		}
	})
	requirement(t, "CON-4", func(t *testing.T) {
		for _, path := range []string{
			"/orders", "/orders/" + idOf(order) + ":cancel", "/orders/" + idOf(order) + "/messages", batches, "/webhooks:test",
		} {
			form := f.postCall(path, "a=b")
			form.Header = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
			f.Do(t, form).Problem(t, "unsupported_media_type")
		}
	})
	f.testLists(t, order)
	requirement(t, "CON-11", func(t *testing.T) {
		for _, path := range []string{
			"/orders/42", "/orders/42/messages", "/personal-links/42", "/campaigns/42", "/catalog/products/42?country=SE",
			"/catalog/images/42",
		} {
			f.Get(t, f.key, path).Problem(t, "not_found")
		}
		for _, path := range []string{
			"/orders/42:cancel", "/orders/42:update-delivery", "/personal-links/42:cancel", "/orders/42/messages",
		} {
			f.Post(t, f.key, path, "{}").Problem(t, "not_found")
		}
	})
	requirement(t, "CON-12", func(t *testing.T) {
		for _, path := range []string{"/campaigns", "/catalog/categories", "/catalog/products/" + f.product + "?country=SE"} {
			require.Equal(t, http.StatusOK, f.Get(t, f.key, path).Status, path)
		}
	})
}

// listPaths returns all paged lists with the query that each needs.
func listPaths() map[string]string {
	return map[string]string{
		"/orders": "?", "/personal-links": "?", "/catalog/products": "?country=SE&", "/campaigns": "?", "/events": "?",
	}
}

func (f *fixture) testLists(t *testing.T, order record) {
	requirement(t, "CON-5", func(t *testing.T) {
		for path, query := range listPaths() {
			for _, limit := range []string{"0", "101", "-1", "x", "1.5"} {
				f.Get(t, f.key, path+query+"limit="+limit).Invalid(t, "limit invalid")
			}
			for _, limit := range []string{"1", "100"} {
				require.Equal(t, http.StatusOK, f.Get(t, f.key, path+query+"limit="+limit).Status)
			}
		}
	})
	requirement(t, "CON-6", func(t *testing.T) {
		for path, query := range listPaths() {
			for _, cursor := range []string{"x", "bm8", rand.Text()} {
				f.Get(t, f.key, path+query+"after="+cursor).Invalid(t, "after invalid")
			}
		}
	})
	requirement(t, "PAG-1", func(t *testing.T) {
		for path, query := range listPaths() {
			require.ElementsMatch(t, []string{"items", "nextCursor"}, namesOf(f.read(t, path+query+"limit=1")), path)
		}
	})
	requirement(t, "PAG-2", func(t *testing.T) {
		for _, path := range []string{"/brands", "/catalog/categories", "/orders/" + idOf(order) + "/messages"} {
			require.True(t, strings.HasPrefix(f.Get(t, f.key, path).Body, "["), path)
		}
	})
	requirement(t, "CON-7", func(t *testing.T) {
		want := ids(order)
		for range 4 {
			want = append(ids(f.place(t)), want...)
		}
		all := ids(f.All(t, f.key, "/orders?limit=1")...)
		require.Subset(t, all, want)
		require.Equal(t, ids(f.All(t, f.key, "/orders?limit=100")...), all)
	})
	f.testTimesInQueries(t)
}

func (f *fixture) testTimesInQueries(t *testing.T) {
	requirement(t, "CON-8", func(t *testing.T) {
		require.NotEmpty(t, f.list(t, f.key, "/orders?updatedSince=2026-01-01T00:00:00Z"))
		require.Empty(t, f.list(t, f.key, "/orders?updatedSince=2100-01-01T00:00:00.000001Z"))
	})
	requirement(t, "CON-9", func(t *testing.T) {
		require.NotEmpty(t, f.list(t, f.key, "/orders?updatedSince=2026-01-01T00:00:00%2B02:00"))
	})
	requirement(t, "CON-10", func(t *testing.T) {
		for _, path := range []string{"/orders?", "/personal-links?", "/catalog/products?country=SE&"} {
			f.Get(t, f.key, path+"updatedSince=2026-01-01T00:00:00+02:00").Invalid(t, "updatedSince invalid")
		}
	})
}

func testLimits(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "LIM-1", func(t *testing.T) {
		const limit = 300
		for range limit {
			require.Equal(t, http.StatusOK, f.Send(t, call{Method: http.MethodGet, Path: "/me", Key: f.key}).Status)
		}
		refused := f.Get(t, f.key, "/me")
		refused.Problem(t, "rate_limited")
		seconds, err := strconv.Atoi(refused.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, seconds)
		require.LessOrEqual(t, seconds, 60)
		require.Equal(t, http.StatusOK, f.Get(t, f.newKey(t), "/me").Status, "another key has its own")
	})
}

func testVersions(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "VER-3", func(t *testing.T) {
		tenant, own := f.me(t, f.key)
		for _, name := range []string{"locales", "currency", "approvalRequired", "customFields"} {
			require.Contains(t, tenant, name)
		}
		require.Contains(t, own, "webhookUrl")
		require.Contains(t, f.place(t), "selection")
		require.Contains(t, f.link(t), "selection")
		campaign := f.campaign(t, -1, f.putGift(t, "S"))
		require.Equal(t, http.StatusOK, f.Get(t, f.key, "/campaigns/"+campaign.GetId()+"?locale=sv-SE").Status)
	})
	requirement(t, "VER-4", func(t *testing.T) {
		order := f.place(t)
		event := f.requireEvents(t, f.key, idOf(order), "order.created")[0]
		require.Equal(t, f.read(t, "/me")["environment"], event.Object(t)["environment"])
	})
}

// testOrderOfChecks sends orders with two errors each. Tests of the gateway cover the order of its own checks.
func testOrderOfChecks(t *testing.T, p *platform) {
	f := newFixture(t, p)
	first := f.postCall("/orders", f.body(t, with("externalOrderId", "taken")))
	first.IdempotencyKey = rand.Text()
	require.Equal(t, http.StatusCreated, f.Do(t, first).Status)
	// The errors in the order of their precedence: first those of the request, then the codes in the order of the API's table,
	// 422 before 409. Errors of one group exclude each other.
	errors := []struct {
		code  problem.Code
		group string
		spoil change
	}{
		{"invalid_request", "", with("urgent", "yes")},
		{"invalid_request", "", without("client")},
		{"brand_required", "brand", without("brandId")},
		{"brand_not_found", "brand", with("brandId", uuid.NewString())},
		{"campaign_not_found", "brand", ofCampaign(uuid.NewString())},
		{"product_not_available", "gift", with("items.0.productId", uuid.NewString())},
		{"not_deliverable_to_country", "gift", with("recipient.address.country", "IN")},
		{"invalid_variations", "", with("items.0.variations", record{"Size": "XXL"})},
		{"invalid_custom_fields", "", with("customFields", []any{record{"fieldId": f.choice, "textValue": "Funeral"}})},
		{"manager_not_found", "", with("managerEmail", "nobody@conformance.example")},
		{"external_order_id_conflict", "", with("externalOrderId", "taken")},
	}
	requirement(t, "CHO-16", func(t *testing.T) {
		for i, earlier := range errors {
			again := first
			again.Body = f.body(t, with("courierComment", "changed"), earlier.spoil)
			f.Do(t, again).Problem(t, "idempotency_key_reused")
			for _, later := range errors[i+1:] {
				if earlier.group == "" || earlier.group != later.group {
					f.refuse(t, earlier.code, later.spoil, earlier.spoil)
				}
			}
		}
	})
}

func testIdempotency(t *testing.T, p *platform) {
	f := newFixture(t, p)
	send := func(t *testing.T, key, idempotencyKey, path, body string) answer {
		t.Helper()
		return f.Do(t, call{Method: http.MethodPost, Path: path, Key: key, IdempotencyKey: idempotencyKey, Body: body})
	}
	created := func(t *testing.T, a answer) answer {
		t.Helper()
		require.Equal(t, http.StatusCreated, a.Status, a.Body)
		return a
	}
	requireReplayed := func(t *testing.T, first, again answer) {
		t.Helper()
		require.Equal(t, []any{first.Status, first.Body, "true"},
			[]any{again.Status, again.Body, again.Header.Get("Idempotent-Replayed")})
		require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	}
	requirement(t, "CHO-19", func(t *testing.T) {
		key := rand.Text()
		created(t, send(t, f.key, key, "/orders", f.body(t)))
		created(t, send(t, f.newKey(t), key, "/orders", f.body(t)))
	})
	requirement(t, "CHO-20", func(t *testing.T) {
		key, external := rand.Text(), freshText(20)
		address := `{"street": "S", "city": "C", "postalCode": "1", "country": "SE"}`
		recipient := `{"name": "Ann", "phone": "+46701112233", "address": ` + address + `}`
		members := []string{
			`"externalOrderId": "` + external + `"`, `"brandId": "` + f.brand + `"`, `"items": [{"productId": "` + f.product + `"}]`,
			`"client": {"name": "Ann"}`, `"recipient": ` + recipient,
		}
		first := created(t, send(t, f.key, key, "/orders", "{"+strings.Join(members, ", ")+"}"))
		members[0], members[4] = members[4], members[0]
		requireReplayed(t, first, send(t, f.key, key, "/orders", "{\n"+strings.Join(members, " ,\n\t")+"}"))
	})
	requirement(t, "CHO-21", func(t *testing.T) {
		key, body := rand.Text(), f.body(t)
		requireReplayed(t, created(t, send(t, f.key, key, "/orders", body)), send(t, f.key, `"`+key+`"`, "/orders", body))
	})
	requirement(t, "CHO-22", func(t *testing.T) {
		body, invalid := f.body(t), f.body(t, without("brandId"))
		key := rand.Text()
		requireReplayed(t, created(t, send(t, f.key, key, "/orders", body)), send(t, f.key, key, "/orders", body))
		for refused, code := range map[string]problem.Code{body: "external_order_id_conflict", invalid: "brand_required"} {
			key := rand.Text()
			first := send(t, f.key, key, "/orders", refused)
			first.Problem(t, code)
			requireReplayed(t, first, send(t, f.key, key, "/orders", refused))
		}
	})
	requirement(t, "CHO-84", func(t *testing.T) {
		made := f.makeKey(t)
		key, repeated, actor, order := made.GetApiKey(), rand.Text(), rand.Text(), f.body(t)
		batch, link := f.batchOf(t), rand.Text()
		first := created(t, send(t, key, repeated, "/orders", order))
		cancel := "/orders/" + idOf(first.Object(t)) + ":cancel"
		cancelled := send(t, key, actor, cancel, `{"reason": "Other."}`)
		require.Equal(t, http.StatusOK, send(t, key, link, batches, batch).Status)
		reach := func(brands ...string) {
			_, err := f.Tenants(t).UpdateKey(t.Context(), &tenantsv1.UpdateKeyRequest{
				Actor: operator, TenantId: f.tenant, KeyId: made.GetKey().GetId(), Name: "Changed",
				Scopes: harness.AllScopes(), BrandIds: brands,
			})
			require.NoError(t, err)
		}
		reach(f.other)
		send(t, key, repeated, "/orders", order).Problem(t, "brand_not_found")
		send(t, key, link, batches, batch).Problem(t, "brand_not_found")
		refused := send(t, key, actor, cancel, `{"reason": "Other."}`)
		refused.Problem(t, "not_found")
		require.Empty(t, refused.Header.Get("Idempotent-Replayed"))
		reach(f.other, f.brand)
		requireReplayed(t, first, send(t, key, repeated, "/orders", order))
		requireReplayed(t, cancelled, send(t, key, actor, cancel, `{"reason": "Other."}`))
	})
	requirement(t, "CHO-23", func(t *testing.T) {
		key := rand.Text()
		send(t, f.key, key, "/webhooks:test", "[").Problem(t, "invalid_request")
		send(t, f.key, key, "/orders", "{}").Problem(t, "invalid_request")
		created(t, send(t, f.key, key, "/orders", f.body(t)))
	})
	requirement(t, "CHO-57", func(t *testing.T) {
		inboxURL(t, p)
		r, key, order := f.newReceiver(t), rand.Text(), f.body(t)
		sent := send(t, r.key, key, "/webhooks:test", "")
		require.Equal(t, http.StatusOK, sent.Status, sent.Body)
		send(t, r.key, key, "/orders", order).Problem(t, "idempotency_key_reused")
		send(t, r.key, key, "/webhooks:test", "[").Problem(t, "idempotency_key_reused")
		created(t, send(t, f.key, rand.Text(), "/orders", order)) // Its externalOrderId is free.
		requireReplayed(t, sent, send(t, r.key, key, "/webhooks:test", ""))
		require.Equal(t, 1, pings(t, r))
	})
	t.Run("a key that placed an order sends no test", func(t *testing.T) {
		inboxURL(t, p)
		r, key := f.newReceiver(t), rand.Text()
		created(t, send(t, r.key, key, "/orders", f.body(t)))
		send(t, r.key, key, "/webhooks:test", "").Problem(t, "idempotency_key_reused")
		require.Zero(t, pings(t, r))
	})
}

// pings counts the tests that have arrived.
func pings(t *testing.T, r *receiver) (n int) {
	t.Helper()
	for _, d := range r.all(t) {
		if strings.Contains(d.Raw, `"type":"ping"`) {
			n++
		}
	}
	return n
}
