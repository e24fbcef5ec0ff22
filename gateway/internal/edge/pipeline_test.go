package edge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

func TestEveryErrorOfTheEdge(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	big := strings.Repeat(" ", 10<<20+1)
	for name, tc := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		code               string
	}{
		"no key":                           {"GET", "/me", "", []string{"Authorization", ""}, 401, "invalid_api_key"},
		"another scheme":                   {"GET", "/me", "", []string{"Authorization", "Basic " + f.Key}, 401, "invalid_api_key"},
		"a malformed key":                  {"GET", "/me", "", []string{"Authorization", "Bearer x"}, 401, "invalid_api_key"},
		"a key of production":              {"GET", "/me", "", []string{"Authorization", "Bearer " + apikey.New(apikey.Production)}, 401, "invalid_api_key"},
		"no key on an unknown path":        {"GET", "/nothing", "", []string{"Authorization", ""}, 401, "invalid_api_key"},
		"an id that is not text":           {"GET", "/orders/%ff", "", nil, 404, "not_found"},
		"an image id that is not text":     {"GET", "/catalog/images/%ff", "", nil, 404, "not_found"},
		"an id with a slash":               {"GET", "/orders%2Fabc", "", nil, 404, "not_found"},
		"an unknown path":                  {"GET", "/nothing", "", nil, 404, "not_found"},
		"another method":                   {"PUT", "/orders", "", nil, 405, "method_not_allowed"},
		"405 before 406":                   {"PUT", "/orders", "", []string{"Accept", "text/html"}, 405, "method_not_allowed"},
		"a scope the key lacks":            {"GET", "/brands", "", nil, 403, "insufficient_scope"},
		"403 before 406":                   {"GET", "/brands", "", []string{"Accept", "text/html"}, 403, "insufficient_scope"},
		"an Accept without JSON":           {"GET", "/orders", "", []string{"Accept", "text/html"}, 406, "not_acceptable"},
		"JSON with quality zero":           {"GET", "/orders", "", []string{"Accept", "application/json;q=0, */*"}, 406, "not_acceptable"},
		"406 before 415":                   {"POST", "/orders", "{}", []string{"Accept", "text/html", "Content-Type", "text/plain"}, 406, "not_acceptable"},
		"another media type":               {"POST", "/orders", "{}", []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		"a form":                           {"POST", "/orders", "a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"},
		"no media type":                    {"POST", "/orders", "{}", []string{"Content-Type", ""}, 415, "unsupported_media_type"},
		"a compressed body":                {"POST", "/orders", "{}", []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type"},
		"415 before 413":                   {"POST", "/orders", big, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		"a body over 10 MB":                {"POST", "/orders", big, nil, 413, "payload_too_large"},
		"413 before the header":            {"POST", "/orders", big, []string{"Idempotency-Key", ""}, 413, "payload_too_large"},
		"no idempotency key":               {"POST", "/orders", "{}", []string{"Idempotency-Key", ""}, 400, "idempotency_key_required"},
		"a long idempotency key":           {"POST", "/orders", "{", []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "idempotency_key_invalid"},
		"broken JSON":                      {"POST", "/orders", "{", nil, 400, "invalid_request"},
		"a limit that is not a number":     {"GET", "/orders?limit=x", "", nil, 400, "invalid_request"},
		"a plus in a timestamp":            {"GET", "/orders?updatedSince=2026-01-01T00:00:00+01:00", "", nil, 400, "invalid_request"},
		"a parameter given twice":          {"GET", "/orders?limit=1&limit=2", "", nil, 400, "invalid_request"},
		"an unknown status":                {"GET", "/orders?status=LOST", "", nil, 400, "invalid_request"},
		"a method that is not implemented": {"GET", "/events", "", nil, 500, "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			before := f.Calls.Load()
			got := f.Do(tc.method, tc.path, tc.body, tc.headers...)
			require.Equal(t, tc.status, got.Status, got.Body)
			require.Equal(t, "application/problem+json", got.Header.Get("Content-Type"))
			require.Equal(t, tc.code, got.Parsed["code"])
			require.InDelta(t, tc.status, got.Parsed["status"], 0)
			require.Equal(t, f.Base+"/docs/errors#"+tc.code, got.Parsed["type"])
			require.Equal(t, problem.Lookup(problem.Code(tc.code)).Title, got.Parsed["title"])
			require.Regexp(t, "^[0-9a-f]{32}$", got.Header.Get("Request-Id"))
			require.Equal(t, got.Header.Get("Request-Id"), got.Parsed["instance"])
			if tc.body != "{" { // Violations in the body are reported by the service.
				require.Equal(t, before, f.Calls.Load(), "no service is called")
			}
		})
	}
	t.Run("405 lists what is allowed", func(t *testing.T) {
		require.Equal(t, "GET, HEAD, POST", f.Do("PUT", "/orders", "").Header.Get("Allow"))
	})
	t.Run("403 names the scope", func(t *testing.T) {
		require.Contains(t, f.Do("GET", "/brands", "").Parsed["detail"], "CATALOG")
	})
}

func TestAPOSTReachesItsServiceWithThePrincipal(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	got := f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Idempotency-Key", `"k-1"`)
	require.Equal(t, 201, got.Status, got.Body)
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "o-1", got.Parsed["externalOrderId"])
	require.Contains(t, got.Parsed, "campaignId")
	require.Nil(t, got.Parsed["campaignId"])
	require.Equal(t, "k-1", f.Seen.IdempotencyKey)
	require.Len(t, f.Seen.Fingerprint, 32)
	require.Equal(t, got.Header.Get("Request-Id"), f.Seen.ID)
	require.Empty(t, f.Headers.Get("authorization"), "the key stays at the edge")
	require.Empty(t, f.Headers.Get("grpcgateway-authorization"))
	require.Regexp(t, `^"key";q=300;w=60$`, got.Header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"key";r=\d+;t=\d+$`, got.Header.Get("RateLimit"))
}

func TestViolationsOfTypesAndRulesAreReportedTogether(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	got := f.Do("POST", "/orders", `{"urgent":"yes","items":[{"budget":{"amount":true}}],"unknown":1}`)
	require.Equal(t, 400, got.Status)
	var found []string
	for _, e := range got.Parsed["errors"].([]any) {
		found = append(found, e.(map[string]any)["field"].(string))
	}
	require.ElementsMatch(t, []string{"urgent", "items[0].budget.amount", "externalOrderId"}, found)
}

func TestErrorsOfAServiceKeepTheirMembers(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	conflict := problem.New(problem.ExternalOrderIDConflict, "taken")
	conflict.OrderID, conflict.Instance = "an-order", "the-first"
	f.Failure = conflict
	got := f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`)
	require.Equal(t, 409, got.Status)
	require.Equal(t, "an-order", got.Parsed["orderId"])
	require.Equal(t, "the-first", got.Parsed["instance"])

	f.Failure = problem.Unavailable()
	got = f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`)
	require.Equal(t, 503, got.Status)
	require.Equal(t, "2", got.Header.Get("Retry-After"))
}

func TestNoHeaderOfTheCallerSetsADeadline(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for _, timeout := range []string{"x", "1n", "1m"} {
		require.Equal(t, 200, f.Do("GET", "/me", "", "Grpc-Timeout", timeout).Status)
	}
}

func TestAWebhookTestNeedsNoBody(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 200, f.Do("POST", "/webhooks:test", "", "Content-Type", "").Status)
	require.Equal(t, `{"responseStatus":null,"error":null}`, f.Do("POST", "/webhooks:test", "{}").Body)
}

func TestEmptyListsArePlain(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	f.Scopes = append(f.Scopes, commonv1.Scope_SCOPE_CATALOG)
	f.NewCaller() // A key not seen before has the new scopes.
	require.Equal(t, `[]`, f.Do("GET", "/brands", "").Body)
	require.JSONEq(t, `{"items":[],"nextCursor":null}`, f.Do("GET", "/orders", "").Body)
}

func TestARevokedKeyIsRefusedWithTheNextRequest(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 200, f.Do("GET", "/me", "").Status)
	f.Revoke(t, f.Key)
	require.Equal(t, 401, f.Do("GET", "/me", "").Status)
}

func TestAKeyHasItsLimit(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	accepted := 0
	var refused gatewaytest.Answer
	for range 310 {
		if got := f.Do("GET", "/me", ""); got.Status == 200 {
			accepted++
		} else {
			refused = got
		}
	}
	require.LessOrEqual(t, accepted, 300)
	require.Equal(t, 429, refused.Status)
	require.Equal(t, "rate_limited", refused.Parsed["code"])
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
}

func TestInvalidKeysAreLimitedByAddress(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	good := f.Key
	f.Key = "wrong"
	for range 60 {
		require.Equal(t, 401, f.Do("GET", "/me", "").Status)
	}
	require.Equal(t, 429, f.Do("GET", "/me", "").Status)
	f.Key = good
	require.Equal(t, 200, f.Do("GET", "/me", "").Status, "a key that has worked keeps working")
}

func TestTheTypeOfAnErrorIsAPage(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	kind, _ := f.Do("GET", "/nothing", "").Parsed["type"].(string)
	page, anchor, _ := strings.Cut(strings.TrimPrefix(kind, f.Base), "#")
	got := f.Do("GET", page, "", "Authorization", "")
	require.Equal(t, 200, got.Status)
	require.Contains(t, got.Body, `id="`+anchor+`"`)
	for _, path := range []string{"/docs", "/openapi.json", "/openapi.yaml"} {
		require.Equal(t, 200, f.Do("GET", path, "", "Authorization", "").Status, path)
	}
	require.Equal(t, 405, f.Do("POST", "/docs", "{}").Status)
}
