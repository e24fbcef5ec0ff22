package docs_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/docs"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

// announced is a change log with deprecations. Nothing of the real API is deprecated.
const announced = `
- {id: no-urgent, date: 2027-02-01, title: No urgent orders, kind: deprecated, text: Say *when* instead.,
   replacement: "` + "`deliverBy`" + `", sunset: 2028-02-01,
   affects: [{schema: PlaceOrderRequest, property: urgent}, {schema: Order, property: urgent}]}
- {id: no-brands, date: 2027-01-01, title: No brands, kind: deprecated, text: They are in me., replacement: getMe,
   sunset: 2028-06-01, affects: [{operation: listBrands}, {operation: listOrders, parameter: limit}, {code: out_of_stock}]}
- {id: start, date: 2026-01-01, title: Start <here>, kind: added, text: Everything.}
`

// announcedSite reads a file of a site whose API has that change log.
func announcedSite(t *testing.T, path string) string {
	t.Helper()
	changes, err := openapi.ParseChanges([]byte(announced))
	require.NoError(t, err)
	document, err := openapi.New(publicURL, apikey.Production, changes)
	require.NoError(t, err)
	s, err := docs.New(document, base, docs.Operator{}, slog.Default())
	require.NoError(t, err)
	w := callOn(t, s, http.MethodGet, base+path, nil)
	require.Equal(t, http.StatusOK, w.Code)
	return w.Body.String()
}

func TestThePageOfChanges(t *testing.T) {
	t.Parallel()
	page := announcedSite(t, "/docs/changelog")
	for _, part := range []string{
		`<h2 id="no-urgent">No urgent orders</h2>`, `1 February 2027, deprecated`,
		`<p>Say <em>when</em> instead.</p>`, `Affected: <code>PlaceOrderRequest.urgent</code>, <code>Order.urgent</code>.`,
		`Instead: <code>deliverBy</code>`, `Works until 1 February 2028 at least.`,
		`<code>listBrands</code>, <code>parameter limit of listOrders</code>, <code>code out_of_stock</code>.`,
		`<a href="#start">Start &lt;here&gt;</a></li>`,
	} {
		require.Contains(t, page, part)
	}
}

func TestTheReferenceMarksWhatIsDeprecated(t *testing.T) {
	t.Parallel()
	require.Contains(t, announcedSite(t, "/docs/reference.md"), "`GET /brands`\n\n*deprecated* ")
}
