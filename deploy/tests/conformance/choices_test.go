package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func testChoices(t *testing.T, p *platform) {
	f := newFixture(t, p)
	read := func(t *testing.T, path string, header map[string]string) answer {
		t.Helper()
		return f.Do(t, call{Method: http.MethodGet, Path: path, Key: f.key, Header: header})
	}
	requirement(t, "CHO-1", func(t *testing.T) {
		for _, path := range []string{"/me", "/nothing"} {
			f.Get(t, "gft_sbx_nonsense", path).Problem(t, "invalid_api_key")
		}
	})
	requirement(t, "CHO-3", func(t *testing.T) {
		for path, allowed := range map[string]string{"/orders": "GET, HEAD, POST", "/me": "GET, HEAD", batches: "POST"} {
			require.Equal(t, allowed, f.Do(t, call{Method: http.MethodDelete, Path: path, Key: f.key}).Header.Get("Allow"))
		}
	})
	requirement(t, "CHO-13", func(t *testing.T) {
		for accept, ok := range map[string]bool{
			"*/*": true, "application/*": true, "application/json;q=0.1, text/html": true, "APPLICATION/JSON": true,
			"text/html": false, "application/json;q=0": false, "application/json;q=0, */*": false,
		} {
			require.Equal(t, ok, read(t, "/me", map[string]string{"Accept": accept}).Status == http.StatusOK, accept)
		}
	})
	requirement(t, "CHO-78", func(t *testing.T) {
		read(t, "/nothing", map[string]string{"Accept": "text/html"}).Problem(t, "not_found")
		read(t, "/orders?limit=0", map[string]string{"Accept": "application/*"}).Invalid(t, "limit invalid")
	})
	requirement(t, "CHO-14", func(t *testing.T) {
		for _, path := range []string{"/me", "/orders", "/brands"} {
			head, get := f.Do(t, call{Method: http.MethodHead, Path: path, Key: f.key}), f.Get(t, f.key, path)
			require.Equal(t, get.Status, head.Status)
			require.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"))
			require.Empty(t, head.Body)
		}
	})
	requirement(t, "CHO-60", func(t *testing.T) {
		for _, path := range []string{"/me", "/orders?limit=0", "/nothing"} {
			a := f.Get(t, f.key, path)
			require.Contains(t, a.Header.Get("RateLimit-Policy"), "q=300")
			require.Contains(t, a.Header.Get("RateLimit"), "r=")
			require.Regexp(t, `^[0-9a-f]{32}$`, a.Header.Get("Request-Id"))
		}
	})
	f.testChoicesOfBodies(t)
	f.testChoicesOfLists(t)
	f.testChoicesOfOrders(t)
	newFixture(t, p).testTexts(t)
	newFixture(t, p, approving).testChoicesOfLinks(t)
}

func (f *fixture) testChoicesOfBodies(t *testing.T) {
	post := func(t *testing.T, body string) answer {
		t.Helper()
		return f.Post(t, f.key, "/orders", body)
	}
	requirement(t, "CHO-8", func(t *testing.T) {
		post(t, `{"externalOrderId": "a\u0000b"}`).Problem(t, "invalid_request")
		post(t, "{\"externalOrderId\": \"\xff\"}").Problem(t, "invalid_request")
	})
	requirement(t, "CHO-9", func(t *testing.T) {
		f.place(t, with("unknown", record{"members": "are ignored"}), with("recipient.unknown", 1))
		post(t, `{"urgent": true, "urgent": false}`).Problem(t, "invalid_request")
	})
	requirement(t, "CHO-11", func(t *testing.T) {
		for _, contentType := range []string{"application/json; charset=utf-8", "Application/JSON;x=y"} {
			request := f.postCall("/orders", f.body(t))
			request.Header = map[string]string{"Content-Type": contentType}
			require.Equal(t, http.StatusCreated, f.Send(t, request).Status, contentType)
		}
	})
	requirement(t, "CHO-12", func(t *testing.T) {
		for _, body := range []string{"", "{}"} {
			require.Equal(t, http.StatusOK, f.Post(t, f.key, "/webhooks:test", body).Status)
		}
	})
	requirement(t, "CHO-15", func(t *testing.T) {
		post(t, `{}`).Invalid(t, "externalOrderId required", "items required", "client required", "recipient required")
	})
	requirement(t, "ERR-10", func(t *testing.T) {
		post(t, `{"externalOrderId": 7, "brandId": "no-uuid", "urgent": "yes", "items": [{"productId": []}], "client": {"name": " "},
			"recipient": {"name": "A", "phone": "0701234567", "address": {"street": "S", "city": "C", "country": "SE"}}}`).Invalid(t,
			"externalOrderId invalid", "brandId invalid", "urgent invalid", "items[0].productId invalid", "client.name required",
			"recipient.phone invalid", "recipient.address.postalCode required")
	})
	requirement(t, "CHO-46", func(t *testing.T) {
		for _, recipients := range []change{without("recipients"), with("recipients", nil), with("recipients", []any{})} {
			f.refuseBatch(t, "no_recipients", recipients)
		}
		f.Post(t, f.key, batches, f.batchOf(t, with("productIds", nil))).Invalid(t, "productIds required")
		f.Post(t, f.key, batches, f.batchOf(t, with("productIds", "x"))).Invalid(t, "productIds invalid")
		f.Post(t, f.key, batches, f.batchOf(t, with("recipients", []any{1}))).Invalid(t, "recipients[0] invalid")
	})
}

func (f *fixture) testChoicesOfLists(t *testing.T) {
	made := f.Post(t, f.key, batches, f.batchOf(t, with("recipients", repeated(51, record{"label": "Ann"})))).OK(t)
	require.Len(t, made["results"], 51)
	requirement(t, "CHO-5", func(t *testing.T) { require.Len(t, f.list(t, f.key, "/personal-links"), 50) })
	requirement(t, "CHO-6", func(t *testing.T) {
		_, cursor := f.Page(t, f.key, "/personal-links?limit=1")
		require.NotEmpty(t, cursor)
		for _, path := range []string{
			"/orders?", "/personal-links?status=ACTIVE&", "/personal-links?updatedSince=2026-01-01T00:00:00Z&", "/campaigns?",
		} {
			f.Get(t, f.key, path+"limit=1&after="+cursor).Invalid(t, "after invalid")
		}
		key := f.newKey(t) // It has not used up any requests.
		for i, c := range []byte(cursor) {
			changed := []byte(cursor)
			changed[i] = 'A'
			if c == 'A' {
				changed[i] = 'B'
			}
			f.Get(t, key, "/personal-links?limit=1&after="+string(changed)).Invalid(t, "after invalid")
		}
	})
	requirement(t, "CHO-17", func(t *testing.T) {
		limited := f.newKey(t, ofBrand(f.other))
		for _, path := range []string{"/campaigns?brandId=", "/orders?brandId=", "/personal-links?campaignId="} {
			require.Empty(t, f.list(t, f.key, path+uuid.NewString()))
			require.Empty(t, f.list(t, limited, path+f.brand))
		}
	})
	requirement(t, "CHO-83", func(t *testing.T) {
		f.place(t, with("externalRecipientId", "player-83"))
		f.link(t, recipient("externalRecipientId", "player-83"))
		for _, filter := range []string{
			"/orders?externalOrderId=", "/orders?externalRecipientId=", "/personal-links?externalRecipientId=",
		} {
			for _, value := range []string{
				"", "%00", "player-83%00", "player-8", "Player-83", "%20player-83", strings.Repeat("a", 129), strings.Repeat("%C3%A5", 3000),
			} {
				require.Empty(t, f.list(t, f.key, filter+value), filter+value)
			}
		}
	})
	requirement(t, "CHO-18", func(t *testing.T) {
		for path, violation := range map[string]string{
			"/orders?status=NEW":           "status invalid",
			"/orders?brandId=1":            "brandId invalid",
			"/orders?updatedSince=now":     "updatedSince invalid",
			"/personal-links?status=NEW":   "status invalid",
			"/personal-links?campaignId=1": "campaignId invalid",
			"/campaigns?status=NEW":        "status invalid",
		} {
			f.Get(t, f.key, path).Invalid(t, violation)
		}
		f.Get(t, f.key, "/orders?status=NEW&brandId=1&limit=0").Invalid(t, "status invalid", "brandId invalid", "limit invalid")
	})
}

const processing = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING

func (f *fixture) testChoicesOfOrders(t *testing.T) {
	requirement(t, "CHO-31", func(t *testing.T) {
		order := f.place(t, with("recipient.phone", "+46 (70) 111-22.33"))
		require.Equal(t, "+46701112233", f.readAsOperator(t, order).GetDetails().GetRecipient().GetPhone())
	})
	requirement(t, "CHO-38", func(t *testing.T) {
		order := idOf(f.place(t))
		statuses := []ordersv1.OrderStatus{1, 2, 3, 4, 5}
		for _, from := range statuses {
			for _, to := range statuses {
				f.correctStatus(t, order, from)
				f.correctStatus(t, order, to)
				require.Equal(t, strings.TrimPrefix(to.String(), "ORDER_STATUS_"), f.read(t, "/orders/"+order)["status"])
			}
		}
	})
	requirement(t, "CHO-63", func(t *testing.T) {
		order := idOf(f.place(t))
		require.Len(t, f.dispatch(t, order)["shipments"], 1)
		f.correctStatus(t, order, processing)
		require.Empty(t, f.read(t, "/orders/"+order)["shipments"])
	})
	requirement(t, "CHO-80", func(t *testing.T) {
		order := f.orderIn(t, "SENT")
		audit, err := f.Orders(t).ListAudit(t.Context(),
			&ordersv1.ListAuditRequest{Actor: operator, TenantId: f.tenant, OrderId: idOf(order)})
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(audit.GetEntries()), "OPERATION_CORRECT_STATUS")
	})
}

// testChoicesOfLinks is for a tenant that requires approval.
func (f *fixture) testChoicesOfLinks(t *testing.T) {
	link := f.link(t)
	require.NoError(t, f.approveLink(t, f.coordinator, link))
	requirement(t, "CHO-42", func(t *testing.T) { require.Equal(t, "PROCESSING", f.orderOf(t, f.claim(t, link))["status"]) })
	requirement(t, "CHO-48", func(t *testing.T) {
		address := strings.TrimSuffix(link["claimUrl"].(string), tokenOf(link))
		for _, token := range []string{freshText(26), "x", strings.ToUpper(tokenOf(link)) + "x"} {
			page := harness.Visit(t, address+token)
			require.Equal(t, http.StatusNotFound, page.Status)
			require.NotContains(t, page.Body, tenantName)
		}
	})
}
