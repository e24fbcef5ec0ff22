package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

func TestEveryFaultTheEdgeFinds(t *testing.T) {
	f := setup(t)
	big := strings.Repeat(" ", 10<<20+1)
	for name, tc := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		code               string
	}{
		"no key":                      {"GET", "/me", "", []string{"Authorization", ""}, 401, "invalid_api_key"},
		"another scheme":              {"GET", "/me", "", []string{"Authorization", "Basic " + f.key}, 401, "invalid_api_key"},
		"a malformed key":             {"GET", "/me", "", []string{"Authorization", "Bearer x"}, 401, "invalid_api_key"},
		"a key of production":         {"GET", "/me", "", []string{"Authorization", "Bearer " + apikey.New(apikey.Production)}, 401, "invalid_api_key"},
		"no key on an unknown path":   {"GET", "/nothing", "", []string{"Authorization", ""}, 401, "invalid_api_key"},
		"an id that is no text":       {"GET", "/orders/%ff", "", nil, 404, "not_found"},
		"an image id that is no text": {"GET", "/catalog/images/%ff", "", nil, 404, "not_found"},
		"an id with a slash":          {"GET", "/orders%2Fabc", "", nil, 404, "not_found"},
		"an unknown path":             {"GET", "/nothing", "", nil, 404, "not_found"},
		"another method":              {"PUT", "/orders", "", nil, 405, "method_not_allowed"},
		"405 before 406":              {"PUT", "/orders", "", []string{"Accept", "text/html"}, 405, "method_not_allowed"},
		"a scope the key lacks":       {"GET", "/brands", "", nil, 403, "insufficient_scope"},
		"403 before 406":              {"GET", "/brands", "", []string{"Accept", "text/html"}, 403, "insufficient_scope"},
		"an Accept without JSON":      {"GET", "/orders", "", []string{"Accept", "text/html"}, 406, "not_acceptable"},
		"JSON with quality zero":      {"GET", "/orders", "", []string{"Accept", "application/json;q=0, */*"}, 406, "not_acceptable"},
		"406 before 415":              {"POST", "/orders", "{}", []string{"Accept", "text/html", "Content-Type", "text/plain"}, 406, "not_acceptable"},
		"another media type":          {"POST", "/orders", "{}", []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		"a form":                      {"POST", "/orders", "a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"},
		"no media type":               {"POST", "/orders", "{}", []string{"Content-Type", ""}, 415, "unsupported_media_type"},
		"a compressed body":           {"POST", "/orders", "{}", []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type"},
		"415 before 413":              {"POST", "/orders", big, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		"a body over 10 MB":           {"POST", "/orders", big, nil, 413, "payload_too_large"},
		"413 before the header":       {"POST", "/orders", big, []string{"Idempotency-Key", ""}, 413, "payload_too_large"},
		"no idempotency key":          {"POST", "/orders", "{}", []string{"Idempotency-Key", ""}, 400, "idempotency_key_required"},
		"a long idempotency key":      {"POST", "/orders", "{", []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "idempotency_key_invalid"},
		"broken JSON":                 {"POST", "/orders", "{", nil, 400, "invalid_request"},
		"a limit that is no number":   {"GET", "/orders?limit=x", "", nil, 400, "invalid_request"},
		"a plus in a timestamp":       {"GET", "/orders?updatedSince=2026-01-01T00:00:00+01:00", "", nil, 400, "invalid_request"},
		"a parameter given twice":     {"GET", "/orders?limit=1&limit=2", "", nil, 400, "invalid_request"},
		"an unknown status":           {"GET", "/orders?status=LOST", "", nil, 400, "invalid_request"},
		"a method nobody implemented": {"GET", "/events", "", nil, 500, "internal_error"},
	} {
		t.Run(name, func(t *testing.T) {
			before := f.ran.Load()
			got := f.do(tc.method, tc.path, tc.body, tc.headers...)
			require.Equal(t, tc.status, got.status, got.body)
			require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
			require.Equal(t, tc.code, got.parsed["code"])
			require.InDelta(t, tc.status, got.parsed["status"], 0)
			require.Equal(t, f.base+"/docs/errors#"+tc.code, got.parsed["type"])
			require.Equal(t, problem.Lookup(problem.Code(tc.code)).Title, got.parsed["title"])
			require.Regexp(t, "^[0-9a-f]{32}$", got.header.Get("Request-Id"))
			require.Equal(t, got.header.Get("Request-Id"), got.parsed["instance"])
			if tc.body != "{" { // Only a body's own faults are the service's to report.
				require.Equal(t, before, f.ran.Load(), "nothing runs")
			}
		})
	}
	t.Run("405 lists what is allowed", func(t *testing.T) {
		require.Equal(t, "GET, HEAD, POST", f.do("PUT", "/orders", "").header.Get("Allow"))
	})
	t.Run("403 names the scope", func(t *testing.T) {
		require.Contains(t, f.do("GET", "/brands", "").parsed["detail"], "CATALOG")
	})
}

func TestAPOSTReachesItsServiceWithWhatTheEdgeKnows(t *testing.T) {
	f := setup(t)
	got := f.do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Idempotency-Key", `"k-1"`)
	require.Equal(t, 201, got.status, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.Equal(t, "o-1", got.parsed["externalOrderId"])
	require.Contains(t, got.parsed, "campaignId")
	require.Nil(t, got.parsed["campaignId"])
	require.Equal(t, "k-1", f.seen.IdempotencyKey)
	require.Len(t, f.seen.Fingerprint, 32)
	require.Equal(t, got.header.Get("Request-Id"), f.seen.ID)
	require.Empty(t, f.headers.Get("authorization"), "the key stays at the edge")
	require.Empty(t, f.headers.Get("grpcgateway-authorization"))
	require.Regexp(t, `^"key";q=300;w=60$`, got.header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"key";r=\d+;t=\d+$`, got.header.Get("RateLimit"))
}

func TestFaultsOfBodyAndRulesComeTogether(t *testing.T) {
	f := setup(t)
	got := f.do("POST", "/orders", `{"urgent":"yes","items":[{"budget":{"amount":true}}],"unknown":1}`)
	require.Equal(t, 400, got.status)
	var found []string
	for _, e := range got.parsed["errors"].([]any) {
		found = append(found, e.(map[string]any)["field"].(string))
	}
	require.ElementsMatch(t, []string{"urgent", "items[0].budget.amount", "externalOrderId"}, found)
}

func TestProblemsOfAServiceKeepTheirMembers(t *testing.T) {
	f := setup(t)
	conflict := problem.New(problem.ExternalOrderIDConflict, "taken")
	conflict.OrderID, conflict.Instance = "an-order", "the-first"
	f.fault = conflict
	got := f.do("POST", "/orders", `{"externalOrderId":"o-1"}`)
	require.Equal(t, 409, got.status)
	require.Equal(t, "an-order", got.parsed["orderId"])
	require.Equal(t, "the-first", got.parsed["instance"])

	f.fault = problem.Unavailable()
	got = f.do("POST", "/orders", `{"externalOrderId":"o-1"}`)
	require.Equal(t, 503, got.status)
	require.Equal(t, "2", got.header.Get("Retry-After"))
}

func TestNoHeaderOfTheCallerSetsADeadline(t *testing.T) {
	f := setup(t)
	for _, timeout := range []string{"x", "1n", "1m"} {
		require.Equal(t, 200, f.do("GET", "/me", "", "Grpc-Timeout", timeout).status)
	}
}

func TestAWebhookTestNeedsNoBody(t *testing.T) {
	f := setup(t)
	require.Equal(t, 200, f.do("POST", "/webhooks:test", "", "Content-Type", "").status)
	require.Equal(t, `{"responseStatus":null,"error":null}`, f.do("POST", "/webhooks:test", "{}").body)
}

func TestEmptyListsArePlain(t *testing.T) {
	f := setup(t)
	f.scopes = append(f.scopes, commonv1.Scope_SCOPE_CATALOG)
	f.key = apikey.New(apikey.Sandbox) // A key not seen before has the new scopes.
	require.Equal(t, `[]`, f.do("GET", "/brands", "").body)
	require.JSONEq(t, `{"items":[],"nextCursor":null}`, f.do("GET", "/orders", "").body)
}

func TestARevokedKeyIsRefusedWithTheNextRequest(t *testing.T) {
	f := setup(t)
	require.Equal(t, 200, f.do("GET", "/me", "").status)
	f.revoke(t, f.key)
	require.Equal(t, 401, f.do("GET", "/me", "").status)
}

func TestAKeyHasItsLimit(t *testing.T) {
	f := setup(t)
	accepted := 0
	var refused answer
	for range 310 {
		if got := f.do("GET", "/me", ""); got.status == 200 {
			accepted++
		} else {
			refused = got
		}
	}
	require.LessOrEqual(t, accepted, 300)
	require.Equal(t, 429, refused.status)
	require.Equal(t, "rate_limited", refused.parsed["code"])
	require.NotEmpty(t, refused.header.Get("Retry-After"))
}

func TestWrongKeysAreThrottledByAddress(t *testing.T) {
	f := setup(t)
	good := f.key
	f.key = "wrong"
	for range 60 {
		require.Equal(t, 401, f.do("GET", "/me", "").status)
	}
	require.Equal(t, 429, f.do("GET", "/me", "").status)
	f.key = good
	require.Equal(t, 200, f.do("GET", "/me", "").status, "a key that works goes on working")
}

func TestTheTypeOfAProblemResolves(t *testing.T) {
	f := setup(t)
	kind, _ := f.do("GET", "/nothing", "").parsed["type"].(string)
	page, anchor, _ := strings.Cut(strings.TrimPrefix(kind, f.base), "#")
	got := f.do("GET", page, "", "Authorization", "")
	require.Equal(t, 200, got.status)
	require.Contains(t, got.body, `id="`+anchor+`"`)
	for _, path := range []string{"/docs", "/openapi.json", "/openapi.yaml"} {
		require.Equal(t, 200, f.do("GET", path, "", "Authorization", "").status, path)
	}
	require.Equal(t, 405, f.do("POST", "/docs", "{}").status)
}
