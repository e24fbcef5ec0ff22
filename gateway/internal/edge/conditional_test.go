package edge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// tagOf reads an order and returns its ETag.
func tagOf(t *testing.T, f *gatewaytest.Fixture) string {
	t.Helper()
	got := f.Do("GET", "/orders/an-order", "")
	require.Equal(t, 200, got.Status, got.Body)
	return got.Header.Get("ETag")
}

func TestTheTagOfAReadIsThatOfItsBodyAndItsRecord(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	f.Version = 3
	got := f.Do("GET", "/orders/an-order", "")
	require.Equal(t, caller.NewETag(caller.OrderState(&ordersv1.Order{Id: "an-order", Version: 3}), []byte(got.Body)), got.Header.Get("ETag"))
	f.Version = 4
	require.NotEqual(t, got.Header.Get("ETag"), tagOf(t, f))
	me := f.Do("GET", "/me", "")
	require.Equal(t, caller.NewETag("", []byte(me.Body)), me.Header.Get("ETag"), "of a record without versions it is the body's")
	require.Empty(t, f.Do("GET", "/orders", "").Header.Get("ETag"), "a list has none")
}

func TestAReadThatHasNotChangedHasNoBody(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	full := f.Do("GET", "/orders/an-order", "")
	tag := full.Header.Get("ETag")
	for condition, want := range map[string]int{
		"":                   200,
		tag:                  304,
		"W/" + tag:           304,
		`"other", ` + tag:    304,
		"*":                  304,
		`"other"`:            200,
		`W/"other"`:          200,
		tag + `, "malformed`: 200,
		"malformed":          200,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			got := f.Do(method, "/orders/an-order", "", "If-None-Match", condition)
			require.Equal(t, want, got.Status, "%s %s", method, condition)
			require.Equal(t, tag, got.Header.Get("ETag"))
			require.Equal(t, "no-store", got.Header.Get("Cache-Control"), "as with the body")
			require.NotEmpty(t, got.Header.Get("RateLimit"))
			require.NotEmpty(t, got.Header.Get("RateLimit-Policy"))
			require.NotEmpty(t, got.Header.Get("Request-Id"))
			require.Equal(t, want == 200, got.Header.Get("Content-Type") != "", "%s %s", method, condition)
			require.Equal(t, want == 200 && method == "GET", got.Body != "")
		}
	}
	f.Version++
	got := f.Do("GET", "/orders/an-order", "", "If-None-Match", tag)
	require.Equal(t, 200, got.Status, "the order has changed")
	require.NotEqual(t, full.Body, got.Body)
}

func TestAnErrorHasNoTagAndComesBeforeTheCondition(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for name, tc := range map[string]struct {
		want    int
		failure error
		headers []string
	}{
		"not found":      {404, problem.RecordNotFound(), nil},
		"unavailable":    {503, problem.Unavailable(), nil},
		"unauthorized":   {401, nil, []string{"Authorization", ""}},
		"not acceptable": {406, nil, []string{"Accept", "text/html"}},
	} {
		f.Failure = tc.failure
		got := f.Do("GET", "/orders/an-order", "", append(tc.headers, "If-None-Match", "*")...)
		require.Equal(t, tc.want, got.Status, name)
		require.Empty(t, got.Header.Get("ETag"), name)
	}
}

func TestAnActionPassesItsConditionOn(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	const action = "/orders/an-order:cancel"
	require.Equal(t, 200, f.Do("POST", action, "{}").Status)
	require.Nil(t, f.Seen.IfMatch)
	plain := f.Seen.Fingerprint

	require.Equal(t, 200, f.Do("POST", action, "{}", "If-Match", `"a,b", W/"c"`).Status)
	require.Equal(t, &caller.Condition{Tags: []string{`"a,b"`, `W/"c"`}}, f.Seen.IfMatch)
	require.Equal(t, plain, f.Seen.Fingerprint, "a repetition may have another condition")
	require.Equal(t, 200, f.Do("POST", action, "{}", "If-Match", "*").Status)
	require.Equal(t, &caller.Condition{Any: true}, f.Seen.IfMatch)
	require.Equal(t, 200, f.Do("POST", action, "{}", "If-Match", "\"\xff\", \"\u00e9\"").Status)
	require.Equal(t, &caller.Condition{Tags: []string{"\"\u00e9\""}}, f.Seen.IfMatch, "no record has a tag that is not UTF-8")
	require.Equal(t, 200, f.Do("POST", action, "{}", "If-Match", "\"\xff\"").Status)
	require.Equal(t, &caller.Condition{}, f.Seen.IfMatch, "which no record meets")

	require.Equal(t, 200, f.Do("GET", "/orders/an-order", "", "If-Match", `"x"`).Status, "a read ignores it")
	failed := problem.New(problem.PreconditionFailed, "changed")
	failed.CurrentStatus = "SENT"
	f.Failure = failed
	got := f.Do("POST", action, "{}", "If-Match", `"x"`)
	require.Equal(t, http.StatusPreconditionFailed, got.Status)
	require.Equal(t, "precondition_failed", got.Parsed["code"])
	require.Equal(t, "SENT", got.Parsed["currentStatus"])
}

func TestAConditionIsNeverIgnoredByAChange(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for _, tc := range []struct{ path, condition string }{
		{"/orders/an-order:cancel", "an unquoted tag"},
		{"/orders/an-order:cancel", " "},
		{"/orders", `"x"`},
		{"/orders", "*"},
		{"/webhooks:test", `"x"`},
	} {
		got := f.Do("POST", tc.path, `{"externalOrderId":"o-1"}`, "If-Match", tc.condition)
		require.Equal(t, 400, got.Status, "%s %s", tc.path, tc.condition)
		require.Equal(t, "invalid_request", got.Parsed["code"])
		require.Equal(t, "If-Match", got.Parsed["errors"].([]any)[0].(map[string]any)["field"], got.Body)
	}
	require.Equal(t, []string{"claim"}, f.Notes()[:1])
	require.NotContains(t, f.Notes(), "call", "the webhook was not tested")
}

func TestADryRunNeedsNoIdempotencyKey(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	const path = "/orders:validate"
	for _, key := range []string{"", "k", `"malformed`, strings.Repeat("k", 300)} {
		got := f.Do("POST", path, "{}", "Idempotency-Key", key)
		require.Equal(t, 200, got.Status, got.Body)
		require.Empty(t, f.Seen.IdempotencyKey)
		require.Empty(t, f.Seen.Fingerprint)
		require.Empty(t, got.Header.Get("Location"))
	}
	require.Empty(t, f.Notes(), "no key was claimed")
	require.Contains(t, f.Do("POST", path, "{").Body, `"problems":[{"code":"invalid"`, "a body that is no JSON is a problem of the order")
	require.Equal(t, 415, f.Do("POST", path, "{}", "Content-Type", "text/plain").Status)
	require.Equal(t, 405, f.Do("GET", path, "").Status)
	require.Equal(t, 400, f.Do("POST", path, "{}", "Sandbox-Fault", "in-progress").Status, "it has no stored answer")
	f.Key = f.UnscopedKey()
	require.Equal(t, 403, f.Do("POST", path, "{}").Status)
}
