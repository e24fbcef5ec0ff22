package docs_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestThePageOfErrorsHasTextsForEveryCode(t *testing.T) {
	t.Parallel()
	page := read(t, "/docs/errors")
	for _, info := range problem.Registry() {
		_, article, found := strings.Cut(page, `<h3 id="`+string(info.Code)+`">`+info.Title+`</h3>`)
		require.True(t, found, info.Code)
		article, _, _ = strings.Cut(article, "<h3 ")
		for _, part := range []string{"Cause", "Remedy"} {
			require.Regexp(t, `<p><strong>`+part+`\.</strong> \S`, article, info.Code)
		}
		require.Contains(t, article, "<code>"+string(info.Code)+"</code>, status "+strconv.Itoa(info.Status))
	}
	var document struct {
		Components struct {
			Schemas struct {
				FieldError struct {
					Properties struct {
						Code struct {
							Enum []string `json:"enum"`
							Open []string `json:"x-extensible-enum"`
						}
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(read(t, "/openapi.json")), &document))
	code := document.Components.Schemas.FieldError.Properties.Code
	fieldCodes := append(code.Enum, code.Open...)
	require.NotEmpty(t, fieldCodes)
	for _, code := range fieldCodes {
		require.Contains(t, page, `<h3 id="field-`+code+`">`)
	}
	raw, err := os.ReadFile("errors.yaml")
	require.NoError(t, err)
	var texts struct{ Codes, Fields map[string]any }
	require.NoError(t, yaml.Unmarshal(raw, &texts))
	require.Len(t, texts.Codes, len(problem.Registry()), "texts of codes that do not exist")
	require.Len(t, texts.Fields, len(fieldCodes), "texts of field codes that do not exist")
}

func TestEachErrorHasAPage(t *testing.T) {
	t.Parallel()
	index := read(t, "/docs/errors")
	for _, info := range problem.Registry() {
		path := "/docs/errors/" + string(info.Code)
		require.Contains(t, index, `<a href="`+base+path+`"><code>`+string(info.Code)+`</code></a>`)
		page := read(t, path)
		require.Contains(t, page, "<h1 ")
		require.Contains(t, page, "Code <code>"+string(info.Code)+"</code>, status <strong>"+strconv.Itoa(info.Status)+"</strong>.")
		require.Regexp(t, `<h2 id="remedy">What to do</h2>.*\n<p>\S`, page)
	}
	require.Contains(t, read(t, "/docs/errors/not_cancellable"),
		`<meta name="description" property="og:description" content="The order is SENT or COMPLETED, or`)
	outOfStock := read(t, "/docs/errors/out_of_stock.md")
	require.Contains(t, outOfStock, "HTTP/1.1 409 Conflict\n")
	require.Contains(t, outOfStock, `"code": "out_of_stock"`)
	require.Contains(t, outOfStock, "\n- [Place an order](../reference.md#placeOrder): `POST /orders`\n")
	require.NotContains(t, outOfStock, "GET /")
	require.Contains(t, read(t, "/docs/errors/rate_limited"), "Nearly every call.")
}

func TestKeysAreStoredAsLongAsThePageSays(t *testing.T) {
	t.Parallel()
	var kept idempotency.Config
	require.NoError(t, settings.Defaults(&kept))
	_, advice, found := strings.Cut(read(t, "/docs/errors"), "was used before with a different method")
	require.True(t, found)
	advice, _, _ = strings.Cut(advice, "<h3 ")
	require.Contains(t, advice, strconv.Itoa(int(kept.Retention/(24*time.Hour)))+" days")
}
