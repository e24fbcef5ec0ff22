package edge_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/problem"
)

const announced = `
- {id: no-limit, date: 2027-03-01, title: T, kind: deprecated, text: X, replacement: Y, sunset: 2028-03-01,
   affects: [{operation: listOrders, parameter: limit}]}
- {id: no-street, date: 2027-02-01, title: T, kind: deprecated, text: X, replacement: Y, sunset: 2029-02-01,
   affects: [{schema: OrderAddress, property: street}, {schema: Shipment, property: carrier}]}
- {id: no-me, date: 2027-01-01, title: T, kind: deprecated, text: X, replacement: Y, sunset: 2028-01-01,
   affects: [{operation: getMe}, {operation: cancelOrder}, {code: out_of_stock}, {code: invalid_api_key}]}
`

func TestAnswersAnnounceWhatTheyUseThatWillGoAway(t *testing.T) {
	t.Parallel()
	changes, err := openapi.ParseChanges([]byte(announced))
	require.NoError(t, err)
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.Changes = changes }})
	const without = `{"externalOrderId": "x", "recipient": {"address": {"street": null, "city": "Malmö"}}}`
	const with = `{"externalOrderId": "x", "recipient": {"address": {"street": "Storgatan 1"}}}`
	conflict := problem.New(problem.VersionConflict, "x")
	id := "/orders/0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"
	for name, tc := range map[string]struct {
		method, path, body string
		failure            error
		headers            []string
		status             int
		want               []string
	}{
		"an operation":                {method: "GET", path: "/me", status: 200, want: []string{"no-me"}},
		"an operation read by HEAD":   {method: "HEAD", path: "/me", status: 200, want: []string{"no-me"}},
		"an operation that refuses":   {method: "POST", path: id + ":cancel", body: "{", status: 400, want: []string{"no-me"}},
		"a parameter, and a member":   {method: "GET", path: "/orders?limit=1", status: 200, want: []string{"no-limit", "no-street"}},
		"a parameter that is refused": {method: "GET", path: "/orders?limit=x", status: 400, want: []string{"no-limit"}},
		"a member of every answer":    {method: "GET", path: "/orders", status: 200, want: []string{"no-street"}},
		"a member of a refused request": {
			method: "POST", path: "/orders", body: with, failure: conflict,
			status: 409, want: []string{"no-street"},
		},
		"a member that is null": {method: "POST", path: "/orders", body: without, failure: conflict, status: 409},
		"a code": {
			method: "POST", path: "/orders", body: without, failure: problem.New(problem.OutOfStock, "x"),
			status: 409, want: []string{"no-me"},
		},
		"a code of an unknown caller": {
			method: "GET", path: "/nothing", headers: []string{"Authorization", "Bearer x"},
			status: 401, want: []string{"no-me"},
		},
		"another operation":                {method: "GET", path: "/brands", status: 403},
		"another method of the operation":  {method: "DELETE", path: "/me", status: 405},
		"another operation of one segment": {method: "POST", path: "/webhooks:test", status: 200},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.For(t)
			f.Failure = tc.failure
			got := f.Do(tc.method, tc.path, tc.body, tc.headers...)
			f.Failure = nil
			require.Equal(t, tc.status, got.Status, got.Body)
			requireNotice(t, f, got, changes, tc.want)
		})
	}
}

// requireNotice checks the headers against the entries with these ids: the earliest dates, and the links of all.
func requireNotice(t *testing.T, f *gatewaytest.Fixture, got gatewaytest.Answer, changes openapi.Changes, ids []string) {
	t.Helper()
	if len(ids) == 0 {
		for _, name := range []string{"Deprecation", "Sunset", "Link"} {
			require.NotContains(t, got.Header, name)
		}
		return
	}
	var links []string
	var since, sunset []time.Time
	for _, c := range changes {
		if !slices.Contains(ids, c.ID) {
			continue
		}
		since, sunset = append(since, c.Date), append(sunset, c.Sunset)
		for _, rel := range []string{"deprecation", "sunset"} {
			links = append(links, "<"+f.BaseURL+"/docs/changelog#"+c.ID+`>; rel="`+rel+`"; type="text/html"`)
		}
	}
	require.Equal(t, "@"+strconv.FormatInt(slices.MinFunc(since, time.Time.Compare).Unix(), 10), got.Header.Get("Deprecation"))
	require.Equal(t, slices.MinFunc(sunset, time.Time.Compare).Format("Mon, 02 Jan 2006 15:04:05")+" GMT", got.Header.Get("Sunset"))
	require.ElementsMatch(t, links, got.Header.Values("Link"))
}
