package edge_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
)

const orderID = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"

// occurrence is one way to get a code. Without a method it is a valid POST of an order; lookUp and failure are what the owning
// service then returns.
type occurrence struct {
	name            string
	method, path    string
	body            string
	headers         []string
	failure, lookUp error
	exhausted       bool
	// members are the expected members besides those of every error; with a nil value, errors[] is not compared. header are the
	// required header fields; an empty value means that the field may have any value.
	members map[string]any
	header  map[string]string
}

func get(name, path string, headers ...string) occurrence {
	return occurrence{name: name, method: "GET", path: path, headers: headers}
}

func post(name, body string, headers ...string) occurrence {
	return occurrence{name: name, body: body, headers: headers}
}

func (o occurrence) withHeader(name, value string) occurrence {
	o.header = map[string]string{name: value}
	return o
}

func (o occurrence) withErrors(errs ...any) occurrence {
	o.members = map[string]any{"errors": errs}
	return o
}

func fieldError(field, code, message string) map[string]any {
	return map[string]any{"field": field, "code": code, "message": message}
}

// returned is an error that a service returns, changed by change.
func returned(name string, code problem.Code, change func(e *problem.Error), members map[string]any) occurrence {
	e := problem.New(code, "why")
	change(e)
	return occurrence{name: name, failure: e, members: members}
}

func withStatus(code problem.Code, status string) []occurrence {
	change := func(e *problem.Error) { e.CurrentStatus = status }
	return []occurrence{returned(status, code, change, map[string]any{"currentStatus": status})}
}

// occurrences has rows for every code of the registry.
func occurrences() map[problem.Code][]occurrence {
	inProgress := problem.New(problem.IdempotencyInProgress, "why")
	inProgress.RetryAfter = 2 * time.Second
	big, allowed := strings.Repeat(" ", 10<<20+1), "Allow"
	rows := map[problem.Code][]occurrence{
		problem.InvalidRequest: {
			post("a wrong type and a missing field", `{"urgent":"yes"}`).withErrors(
				fieldError("urgent", "invalid", "must be a boolean"), fieldError("externalOrderId", "required", "is required")),
			post("a body that is not JSON", `{`).withErrors(fieldError("", "invalid", "the body is not valid JSON, at byte 1")),
			get("several parameters", "/orders?limit=x&status=LOST").withErrors(
				fieldError("status", "invalid", "must be one of REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED"),
				fieldError("limit", "invalid", "must be an integer")),
			get("a plus in a timestamp", "/orders?updatedSince=2026-01-01T00:00:00+01:00"),
			get("a parameter given twice", "/orders?limit=1&limit=2"),
		},
		problem.IdempotencyKeyRequired: {
			post("no key", "{}", "Idempotency-Key", ""), post("a blank key", "", "Idempotency-Key", " "),
		},
		problem.IdempotencyKeyInvalid: {post("256 characters", "{", "Idempotency-Key", strings.Repeat("k", 256))},
		problem.InvalidAPIKey: {
			get("no key", "/me", "Authorization", "").withHeader("WWW-Authenticate", "Bearer"),
			get("another scheme", "/me", "Authorization", "Basic "+apikey.New(apikey.Sandbox)),
			get("a malformed key", "/me", "Authorization", "Bearer x"),
			get("a key of production", "/me", "Authorization", "Bearer "+apikey.New(apikey.Production)),
			get("no key on an unknown path", "/nothing", "Authorization", ""),
		},
		problem.InsufficientScope: {get("another scope", "/brands")},
		problem.NotFound: {
			get("an unknown path", "/nothing"), get("an id that is not text", "/orders/%ff"), get("an id with a slash", "/orders%2Fabc"),
			get("an image", "/catalog/images/other"), get("an image id that is not text", "/catalog/images/%ff"),
			{name: "a record that is not visible", failure: problem.RecordNotFound()},
		},
		problem.MethodNotAllowed: {
			occurrence{name: "of a list", method: "DELETE", path: "/orders"}.withHeader(allowed, "GET, HEAD, POST"),
			occurrence{name: "of an image", method: "POST", path: "/catalog/images/known"}.withHeader(allowed, "GET, HEAD"),
			occurrence{name: "of the reference", method: "POST", path: "/docs"}.withHeader(allowed, "GET, HEAD"),
		},
		problem.NotAcceptable: {
			post("HTML only", "{}", "Accept", "text/html"), get("JSON with quality zero", "/orders", "Accept", "application/json;q=0, */*"),
		},
		problem.IdempotencyInProgress: {occurrence{name: "returned by a service", lookUp: inProgress}.withHeader("Retry-After", "2")},
		problem.ExternalOrderIDConflict: {
			returned("with a visible order", problem.ExternalOrderIDConflict, func(e *problem.Error) { e.OrderID = orderID },
				map[string]any{"orderId": orderID}),
			returned("with another order", problem.ExternalOrderIDConflict, func(*problem.Error) {}, nil),
		},
		problem.NotEditable:        withStatus(problem.NotEditable, "SENT"),
		problem.NotCancellable:     withStatus(problem.NotCancellable, "CLAIMED"),
		problem.PreconditionFailed: withStatus(problem.PreconditionFailed, "REQUESTED"),
		problem.PayloadTooLarge:    {post("a byte over 10 MB", big)},
		problem.UnsupportedMediaType: {
			post("text", "{}", "Content-Type", "text/plain"), post("a form", "a=b", "Content-Type", "application/x-www-form-urlencoded"),
			post("no type", "{}", "Content-Type", ""), post("two types", "{}", "Content-Type", "application/json, text/plain"),
			post("a type of JSON", "{}", "Content-Type", "application/merge-patch+json"),
			post("compressed", "{}", "Content-Encoding", "gzip").withHeader("Accept-Encoding", "identity"),
		},
		problem.IdempotencyKeyReused: {{name: "returned by a service", lookUp: problem.New(problem.IdempotencyKeyReused, "why")}},
		problem.BrandCampaignMismatch: {returned("with a violation", problem.BrandCampaignMismatch, func(e *problem.Error) {
			e.Violations = []problem.Violation{{Field: "brandId", Code: problem.FieldInvalid, Message: "is another brand"}}
		}, nil).withErrors(fieldError("brandId", "invalid", "is another brand"))},
		problem.RateLimited: {{
			name: "the 301st request", exhausted: true, method: "GET", path: "/me",
			header: map[string]string{"Retry-After": "", "RateLimit": ""},
		}},
		problem.InternalError: {
			{name: "a failure of a service", failure: errors.New("the password is hunter2")},
			get("an operation that is not implemented", "/orders/another-order"),
		},
		problem.ServiceUnavailable: {
			occurrence{name: "a service that is down", failure: problem.Unavailable()}.withHeader("Retry-After", "2"),
		},
		problem.RangeNotSatisfiable: {
			get("a range after the end of an image", "/catalog/images/known", "Range", "bytes=100-").
				withHeader("Content-Range", "bytes */5"),
		},
	}
	for _, code := range []problem.Code{
		problem.OutOfStock, problem.VersionConflict, problem.BrandRequired, problem.BrandNotFound, problem.CampaignNotFound,
		problem.CampaignNotActive, problem.ProductNotInCampaign, problem.ProductNotAvailable, problem.ProductNotFound,
		problem.NotDeliverableToCountry, problem.TooManyMessages, problem.InvalidVariations, problem.InvalidCustomFields,
		problem.ManagerNotFound, problem.CountryChangeNotAllowed, problem.NoProducts, problem.NoRecipients, problem.TooManyRecipients,
		problem.ReplayTooLarge,
	} {
		rows[code] = []occurrence{returned("returned by a service", code, func(*problem.Error) {}, nil)}
	}
	return rows
}

func TestEveryCodeOverHTTP(t *testing.T) {
	t.Parallel()
	rows := occurrences()
	f := gatewaytest.New(t)
	exhausted := f.For(t)
	exhausted.UseNewCaller()
	exhausted.ExhaustRateLimit()
	for _, info := range problem.Registry() {
		require.NotEmpty(t, rows[info.Code], "%s has no row", info.Code)
		for _, o := range rows[info.Code] {
			t.Run(string(info.Code)+"/"+o.name, func(t *testing.T) {
				sub := f.For(t)
				sub.UseNewCaller()
				if o.exhausted {
					sub.Key = exhausted.Key
				}
				requireOccurrence(t, sub, info, o)
			})
		}
		delete(rows, info.Code)
	}
	require.Empty(t, slices.Collect(maps.Keys(rows)), "codes that are not registered")
}

func requireOccurrence(t *testing.T, f *gatewaytest.Fixture, info problem.Info, o occurrence) {
	t.Helper()
	f.Failure, f.LookUp = o.failure, o.lookUp
	if o.method == "" {
		o.method, o.path = "POST", "/orders"
	}
	if o.method == "POST" && o.body == "" {
		o.body = `{"externalOrderId":"o-1"}`
	}
	calls := f.Calls.Load()
	got := f.Do(o.method, o.path, o.body, o.headers...)
	require.Equal(t, info.Status, got.Status, got.Body)
	require.Equal(t, "application/problem+json", got.Header.Get("Content-Type"))
	require.Regexp(t, "^[0-9a-f]{32}$", got.Header.Get("Request-Id"))
	require.NotContains(t, got.Body, "hunter2")
	require.NotEmpty(t, got.Parsed["detail"])
	delete(got.Parsed, "detail") // English text, not for parsing.
	if o.members == nil {
		delete(got.Parsed, "errors")
	}
	want := map[string]any{
		"type": f.BaseURL + "/docs/errors#" + string(info.Code), "title": info.Title, "status": float64(info.Status),
		"code": string(info.Code), "instance": got.Header.Get("Request-Id"),
	}
	maps.Copy(want, o.members)
	require.Equal(t, want, got.Parsed)
	for name, value := range o.header {
		require.NotEmpty(t, got.Header.Get(name), name)
		if value != "" {
			require.Equal(t, value, got.Header.Get(name), name)
		}
	}
	// Only errors of the service and violations in the body reach the service.
	if o.failure == nil && o.lookUp == nil && (o.method == "GET" || info.Code != problem.InvalidRequest) {
		require.Equal(t, calls, f.Calls.Load(), "no service is called")
	}
}
