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
	// members are those beside the ones that every error has. header are fields that the code requires; an empty value means
	// any but none.
	members map[string]any
	header  map[string]string
}

func decided(code problem.Code) []occurrence {
	return []occurrence{{name: "decided by a service", failure: problem.New(code, "why")}}
}

func withStatus(code problem.Code, statuses ...string) (out []occurrence) {
	for _, status := range statuses {
		e := problem.New(code, "why")
		e.CurrentStatus = status
		out = append(out, occurrence{name: status, failure: e, members: map[string]any{"currentStatus": status}})
	}
	return out
}

func fieldError(field, code, message string) map[string]any {
	return map[string]any{"field": field, "code": code, "message": message}
}

// occurrences has a row for every code of the registry.
func occurrences() map[problem.Code][]occurrence {
	inProgress := problem.New(problem.IdempotencyInProgress, "why")
	inProgress.RetryAfter = 2 * time.Second
	taken := problem.New(problem.ExternalOrderIDConflict, "why")
	taken.OrderID = orderID
	mismatch := problem.New(problem.BrandCampaignMismatch, "why")
	mismatch.Violations = []problem.Violation{{Field: "brandId", Code: problem.FieldInvalid, Message: "is not the campaign's brand"}}
	return map[problem.Code][]occurrence{
		problem.InvalidRequest: {
			{name: "a field of the wrong type and one that is missing", body: `{"urgent":"yes"}`, members: map[string]any{"errors": []any{
				fieldError("urgent", "invalid", "must be a boolean"), fieldError("externalOrderId", "required", "is required"),
			}}},
			{name: "a body that is not JSON", body: `{`, members: map[string]any{"errors": []any{
				fieldError("", "invalid", "the body is not valid JSON, at byte 1"),
			}}},
			{name: "several query parameters", method: "GET", path: "/orders?limit=x&status=LOST", members: map[string]any{"errors": []any{
				fieldError("status", "invalid", "must be one of REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED"),
				fieldError("limit", "invalid", "must be an integer"),
			}}},
		},
		problem.IdempotencyKeyRequired: {
			{name: "none", headers: []string{"Idempotency-Key", ""}},
			{name: "a blank one", headers: []string{"Idempotency-Key", " "}},
		},
		problem.IdempotencyKeyInvalid: {{name: "256 characters", headers: []string{"Idempotency-Key", strings.Repeat("k", 256)}}},
		problem.InvalidAPIKey: {{
			name: "none", method: "GET", path: "/me", headers: []string{"Authorization", ""},
			header: map[string]string{"WWW-Authenticate": "Bearer"},
		}},
		problem.InsufficientScope: {{name: "another scope", method: "GET", path: "/brands"}},
		problem.NotFound: {
			{name: "an unknown path", method: "GET", path: "/nothing"},
			{name: "a record that is not visible", failure: problem.RecordNotFound()},
			{name: "an image", method: "GET", path: "/catalog/images/other"},
		},
		problem.MethodNotAllowed: {
			{name: "of a list", method: "DELETE", path: "/orders", header: map[string]string{"Allow": "GET, HEAD, POST"}},
			{name: "of an image", method: "POST", path: "/catalog/images/known", header: map[string]string{"Allow": "GET, HEAD"}},
			{name: "of the reference", method: "POST", path: "/docs", header: map[string]string{"Allow": "GET, HEAD"}},
		},
		problem.NotAcceptable: {{name: "HTML only", headers: []string{"Accept", "text/html"}}},
		problem.IdempotencyInProgress: {{
			name: "decided by a service", lookUp: inProgress,
			header: map[string]string{"Retry-After": "2"},
		}},
		problem.OutOfStock: decided(problem.OutOfStock),
		problem.ExternalOrderIDConflict: {
			{name: "with an order the key can see", failure: taken, members: map[string]any{"orderId": orderID}},
			{name: "with an order the key cannot see", failure: problem.New(problem.ExternalOrderIDConflict, "why")},
		},
		problem.NotEditable:     withStatus(problem.NotEditable, "REQUESTED", "SENT", "COMPLETED", "CANCELLED"),
		problem.NotCancellable:  withStatus(problem.NotCancellable, "SENT", "COMPLETED", "CLAIMED", "EXPIRED"),
		problem.VersionConflict: decided(problem.VersionConflict),
		problem.PayloadTooLarge: {{name: "a byte over 10 MB", body: strings.Repeat(" ", 10<<20+1)}},
		problem.UnsupportedMediaType: {
			{name: "text", headers: []string{"Content-Type", "text/plain"}},
			{name: "compressed", headers: []string{"Content-Encoding", "gzip"}, header: map[string]string{"Accept-Encoding": "identity"}},
		},
		problem.IdempotencyKeyReused: {{name: "decided by a service", lookUp: problem.New(problem.IdempotencyKeyReused, "why")}},
		problem.BrandRequired:        decided(problem.BrandRequired),
		problem.BrandNotFound:        decided(problem.BrandNotFound),
		problem.BrandCampaignMismatch: {{name: "decided by a service", failure: mismatch, members: map[string]any{
			"errors": []any{fieldError("brandId", "invalid", "is not the campaign's brand")},
		}}},
		problem.CampaignNotFound:        decided(problem.CampaignNotFound),
		problem.CampaignNotActive:       decided(problem.CampaignNotActive),
		problem.ProductNotInCampaign:    decided(problem.ProductNotInCampaign),
		problem.ProductNotAvailable:     decided(problem.ProductNotAvailable),
		problem.ProductNotFound:         decided(problem.ProductNotFound),
		problem.NotDeliverableToCountry: decided(problem.NotDeliverableToCountry),
		problem.InvalidVariations:       decided(problem.InvalidVariations),
		problem.InvalidCustomFields:     decided(problem.InvalidCustomFields),
		problem.ManagerNotFound:         decided(problem.ManagerNotFound),
		problem.CountryChangeNotAllowed: decided(problem.CountryChangeNotAllowed),
		problem.NoProducts:              decided(problem.NoProducts),
		problem.NoRecipients:            decided(problem.NoRecipients),
		problem.TooManyRecipients:       decided(problem.TooManyRecipients),
		problem.RateLimited: {{
			name: "the 301st request", exhausted: true, method: "GET", path: "/me",
			header: map[string]string{"Retry-After": "", "RateLimit": ""},
		}},
		problem.InternalError: {
			{name: "a failure of a service", failure: errors.New("the password is hunter2")},
			{name: "an operation that is not implemented", method: "GET", path: "/events"},
		},
		problem.ServiceUnavailable: {{
			name: "a service that is down", failure: problem.Unavailable(),
			header: map[string]string{"Retry-After": "2"},
		}},
		problem.RangeNotSatisfiable: {{
			name: "a range after the end of an image", method: "GET", path: "/catalog/images/known",
			headers: []string{"Range", "bytes=100-"}, header: map[string]string{"Content-Range": "bytes */5"},
		}},
	}
}

func TestEveryCodeOverHTTP(t *testing.T) {
	t.Parallel()
	rows := occurrences()
	f := gatewaytest.New(t)
	exhausted := f.For(t)
	exhausted.NewCaller()
	exhausted.UseUp()
	for _, info := range problem.Registry() {
		require.NotEmpty(t, rows[info.Code], "%s has no row", info.Code)
		for _, o := range rows[info.Code] {
			t.Run(string(info.Code)+"/"+o.name, func(t *testing.T) {
				sub := f.For(t)
				sub.NewCaller()
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
	got := f.Do(o.method, o.path, o.body, o.headers...)
	require.Equal(t, info.Status, got.Status, got.Body)
	require.Equal(t, "application/problem+json", got.Header.Get("Content-Type"))
	require.NotContains(t, got.Body, "hunter2")
	require.NotEmpty(t, got.Parsed["detail"])
	delete(got.Parsed, "detail") // English text, not for parsing.
	want := map[string]any{
		"type": f.Base + "/docs/errors#" + string(info.Code), "title": info.Title, "status": float64(info.Status),
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
}
