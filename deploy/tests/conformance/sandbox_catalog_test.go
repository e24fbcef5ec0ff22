package conformance_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// onProduct posts an action of the sandbox on a gift.
func (f *fixture) onProduct(t *testing.T, id, action, body string) answer {
	t.Helper()
	return f.Post(t, f.key, "/sandbox/catalog/products/"+id+":"+action, body)
}

func testSandboxCatalog(t *testing.T, p *platform) {
	f, stranger := newFixture(t, p), newFixture(t, p)
	gift := f.putGift(t, "S", "M")
	id := gift.GetId()
	campaign := f.campaign(t, 3, gift)
	setStock := "/sandbox/campaigns/" + campaign.GetId() + ":set-stock"
	sku := f.offerings(t, campaign, "")[0]["skus"].([]any)[0].(record)["id"].(string)
	requirement(t, "SBC-1", func(t *testing.T) {
		answer := f.Post(t, f.key, setStock, `{"skuId": "`+sku+`", "stockRemaining": 0}`).OK(t)
		require.Equal(t, f.read(t, "/campaigns/"+campaign.GetId()), answer)
		require.Equal(t, []any{0.0, 3.0}, f.stockOf(t, campaign))
	})
	requirement(t, "SBC-2", func(t *testing.T) {
		f.Post(t, f.key, setStock, `{}`).Invalid(t, "skuId required", "stockRemaining required")
		f.Post(t, f.key, setStock, `{"skuId": "`+uuid.NewString()+`", "stockRemaining": 1}`).Invalid(t, "skuId invalid")
		f.Post(t, f.key, setStock, `{"skuId": "`+sku+`", "stockRemaining": -1}`).Invalid(t, "stockRemaining invalid")
		f.Post(t, f.key, setStock, `{"skuId": "`+sku+`", "stockRemaining": 3000000000}`).Invalid(t, "stockRemaining invalid")
	})
	path := "/catalog/products/" + id + "?country=SE"
	before := f.read(t, path)
	requirement(t, "SBC-4", func(t *testing.T) {
		unlisted := f.onProduct(t, id, "unlist", "").OK(t)
		require.Equal(t, []any{id, false}, []any{unlisted["id"], unlisted["listed"]})
		f.Get(t, f.key, path).Problem(t, "not_found")
		since := f.All(t, f.key, "/catalog/products?country=SE&limit=100&updatedSince="+url.QueryEscape(unlisted["updatedAt"].(string)))
		require.Contains(t, since, unlisted)
		require.Equal(t, "NEEDS_REVIEW", f.offerings(t, campaign, "")[0]["status"])
		require.Equal(t, before, stranger.read(t, path), "another tenant sees no change")
		require.Equal(t, unlisted, f.onProduct(t, id, "unlist", "").OK(t), "again it does not change")
	})
	requirement(t, "SBC-5", func(t *testing.T) {
		relisted := f.onProduct(t, id, "relist", `{"country": "SE"}`).OK(t)
		require.Equal(t, f.read(t, path), relisted)
		require.NotEqual(t, before["updatedAt"], relisted["updatedAt"])
		require.Equal(t, "ACTIVE", f.offerings(t, campaign, "")[0]["status"])
	})
	requirement(t, "SBC-6", func(t *testing.T) {
		gone := f.onProduct(t, id, "set-available", `{"country": "SE", "available": false}`).OK(t)
		require.Equal(t, []any{false, gone}, []any{gone["available"], f.read(t, path)})
		require.Equal(t, true, stranger.read(t, path)["available"])
		f.onProduct(t, id, "set-available", `{"country": "sweden"}`).Invalid(t, "country invalid", "available required")
		require.Equal(t, true, f.onProduct(t, id, "set-available", `{"country": "SE", "available": true}`).OK(t)["available"])
	})
	requirement(t, "SBC-7", func(t *testing.T) {
		hidden := f.putGift(t, "S")
		f.putInState(t, hidden, archived)
		for action, body := range map[string]string{"unlist": "", "relist": "", "set-available": `{"country": "SE", "available": true}`} {
			f.onProduct(t, hidden.GetId(), action, body).Problem(t, "not_found")
			f.Post(t, f.newKey(t, ofScope(commonv1.Scope_SCOPE_ORDERS)), "/sandbox/catalog/products/"+id+":"+action,
				body).Problem(t, "insufficient_scope")
		}
		stock := `{"skuId": "` + sku + `", "stockRemaining": 9}`
		stranger.Post(t, stranger.key, setStock, stock).Problem(t, "not_found")
		f.Post(t, f.newKey(t, ofBrand(f.other)), setStock, stock).Problem(t, "not_found")
	})
	requirement(t, "SBC-8", func(t *testing.T) {
		request := f.postCall(setStock, `{"skuId": "`+sku+`", "stockRemaining": 5}`)
		request.IdempotencyKey = uuid.NewString()
		first := f.Do(t, request)
		f.Post(t, f.key, setStock, `{"skuId": "`+sku+`", "stockRemaining": 6}`).OK(t)
		again := f.Do(t, request)
		require.Equal(t, http.StatusOK, again.Status)
		require.Equal(t, first.Body, again.Body)
		require.Equal(t, "set-stock", again.Header.Get("Sandbox"))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.EqualValues(t, 6, f.stockOf(t, campaign)[0])
	})
}
