package openapi_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

// announced is a change log with a deprecation of each kind. Nothing of the real API is deprecated.
const announced = `
- {id: no-urgent, date: 2027-02-01, title: No urgent orders, kind: deprecated, text: Say *when* instead.,
   replacement: "` + "`deliverBy`" + `", sunset: 2028-02-01,
   affects: [{schema: PlaceOrderRequest, property: urgent}, {schema: Order, property: urgent}]}
- {id: no-brands, date: 2027-01-01, title: No brands, kind: deprecated, text: They are in me., replacement: getMe,
   sunset: 2028-06-01, affects: [{operation: listBrands}, {operation: listOrders, parameter: limit}, {code: out_of_stock}]}
- {id: start, date: 2026-01-01, title: Start <here>, kind: added, text: Everything.}
`

func parse(t *testing.T, text string) openapi.Changes {
	t.Helper()
	changes, err := openapi.ParseChanges([]byte(text))
	require.NoError(t, err)
	return changes
}

func TestInvalidChangeLogs(t *testing.T) {
	t.Parallel()
	const (
		gone  = `{id: gone, date: 2027-01-31, title: T, kind: deprecated, text: X, replacement: Y, affects: [{operation: o}]`
		valid = gone + `, sunset: 2028-01-31}`
	)
	parse(t, "- "+valid)
	for name, tc := range map[string]struct{ text, want string }{
		"a sunset after less than twelve months": {
			"- " + gone + `, sunset: 2028-01-30}`,
			"gone: the sunset must be at least 12 months after the date",
		},
		"no sunset": {
			"- " + gone + "}",
			"at least 12 months",
		},
		"no replacement": {
			`- {id: gone, date: 2027-01-31, title: T, kind: deprecated, text: X, sunset: 2029-01-30, affects: [{operation: o}]}`,
			"needs affects and replacement",
		},
		"nothing affected": {
			`- {id: gone, date: 2027-01-31, title: T, kind: deprecated, text: X, replacement: Y, sunset: 2029-01-30}`,
			"needs affects and replacement",
		},
		"a sunset of an addition": {
			`- {id: new, date: 2027-01-31, title: T, kind: added, text: X, sunset: 2029-01-30}`, "only a deprecation",
		},
		"an unknown kind":         {`- {id: new, date: 2027-01-31, title: T, kind: fixed, text: X}`, `unknown kind "fixed"`},
		"an id that is no anchor": {`- {id: New!, date: 2027-01-31, title: T, kind: added, text: X}`, "lower-case"},
		"no date":                 {`- {id: new, title: T, kind: added, text: X}`, "required"},
		"a misspelt member":       {`- {id: new, dates: 2027-01-31}`, "dates"},
		"an id twice":             {"- " + valid + "\n- " + valid, "twice"},
		"the oldest first": {
			"- {id: a, date: 2026-01-01, title: T, kind: added, text: X}\n- {id: b, date: 2026-01-02, title: T, kind: added, text: X}",
			"b is newer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openapi.ParseChanges([]byte(tc.text))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// deprecatedIn lists the paths of what is marked in a document.
func deprecatedIn(value any, at string) (found []string) {
	switch v := value.(type) {
	case object:
		if v["deprecated"] == true {
			found = append(found, at+" "+v["x-sunset"].(string))
		}
		for name, member := range v {
			found = append(found, deprecatedIn(member, at+"/"+name)...)
		}
	case []any:
		for _, element := range v {
			found = append(found, deprecatedIn(element, at)...)
		}
	}
	return found
}

func TestTheDocumentMarksWhatTheChangeLogDeprecates(t *testing.T) {
	t.Parallel()
	require.Empty(t, deprecatedIn(load(t).root, ""), "changes.yaml deprecates nothing")
	for _, environment := range environments {
		made, err := openapi.New(publicURL, environment, parse(t, announced))
		require.NoError(t, err)
		written, err := made.JSON()
		require.NoError(t, err)
		d := parseDocument(t, written)
		require.ElementsMatch(t, []string{
			"/components/schemas/PlaceOrderRequest/properties/urgent 2028-02-01",
			"/components/schemas/Order/properties/urgent 2028-02-01",
			"/paths//brands/get 2028-06-01",
			"/paths//orders/get/parameters 2028-06-01",
		}, deprecatedIn(d.root, ""))
	}
}

func TestADeprecationOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"{operation: listNothing}", "{operation: listOrders, parameter: nothing}", "{operation: listOrders, parameter: Idempotency-Key}",
		"{schema: Order, property: nothing}", "{schema: Nothing, property: id}", "{code: nothing}",
	} {
		changes := parse(t,
			`[{id: gone, date: 2027-01-01, title: T, kind: deprecated, text: X, replacement: Y, sunset: 2028-01-01, affects: [`+target+`]}]`)
		_, err := openapi.New(publicURL, apikey.Sandbox, changes)
		require.ErrorContains(t, err, "to deprecate", target)
	}
}

// Answers are marked at the same time. The race detector fails if they share what they write.
func TestAnswersAreMarkedAtTheSameTime(t *testing.T) {
	t.Parallel()
	made, err := openapi.New(publicURL, apikey.Sandbox, parse(t, `
- {id: no-list, date: 2027-01-01, title: T, kind: deprecated, text: X, replacement: Y, sunset: 2028-01-01,
   affects: [{operation: listOrders}, {operation: listOrders, parameter: limit}, {operation: listOrders, parameter: status},
   {code: out_of_stock}]}
`))
	require.NoError(t, err)
	var answers sync.WaitGroup
	for range 4 {
		answers.Go(func() {
			for range 50 {
				header := http.Header{}
				made.Notices.Deprecate(header, &openapi.Usage{Method: "GET", Path: "/orders", Status: http.StatusOK})
				assert.Len(t, header.Values("Link"), 2)
			}
		})
	}
	answers.Wait()
}
