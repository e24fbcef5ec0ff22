package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
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
			"/orders", "/orders/" + idOf(order) + ":cancel", "/orders/" + idOf(order) + ":update-delivery", "/orders/" + idOf(order) + "/messages",
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
	requirement(t, "CON-4", func(t *testing.T) {
		for _, path := range []string{"/orders", "/orders/" + idOf(order) + ":cancel", "/orders/" + idOf(order) + "/messages", batches, "/webhooks:test"} {
			form := f.postCall(path, "a=b")
			form.Header = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
			f.Do(t, form).Problem(t, "unsupported_media_type")
		}
	})
	f.testLists(t, order)
	requirement(t, "CON-11", func(t *testing.T) {
		for _, path := range []string{
			"/orders/42", "/orders/42/messages", "/personal-links/42", "/campaigns/42", "/catalog/products/42?country=SE", "/catalog/images/42",
		} {
			f.Get(t, f.key, path).Problem(t, "not_found")
		}
		for _, path := range []string{"/orders/42:cancel", "/orders/42:update-delivery", "/personal-links/42:cancel", "/orders/42/messages"} {
			f.Post(t, f.key, path, "{}").Problem(t, "not_found")
		}
	})
	requirement(t, "CON-12", func(t *testing.T) {
		for _, path := range []string{"/campaigns", "/catalog/categories", "/catalog/products/" + f.product + "?country=SE"} {
			require.Equal(t, http.StatusOK, f.Get(t, f.key, path).Status, path)
		}
	})
}

// listPaths are all lists in pages, with the query that each needs.
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
