package openapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/console"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

var contentTypes = map[string]string{
	"/docs":                "text/html; charset=utf-8",
	"/docs/errors":         "text/html; charset=utf-8",
	"/docs/changelog":      "text/html; charset=utf-8",
	"/docs/changelog.atom": "application/atom+xml; charset=utf-8",
	"/openapi.json":        "application/json",
	"/openapi.yaml":        "application/yaml",
}

var environments = []apikey.Environment{apikey.Production, apikey.Sandbox}

// handlers are made once for all tests, because they have no state.
var handlers = sync.OnceValues(func() (made map[apikey.Environment]http.Handler, err error) {
	made = map[apikey.Environment]http.Handler{}
	for _, environment := range environments {
		if made[environment], err = openapi.New(publicURL, environment, nil); err != nil {
			return nil, err
		}
	}
	return made, nil
})

// call calls the handler of the sandbox, whose document has all of the other and more.
func call(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	return callIn(t, apikey.Sandbox, method, path, header)
}

func callIn(t *testing.T, environment apikey.Environment, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	made, err := handlers()
	require.NoError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	r.Header = header
	w := httptest.NewRecorder()
	made[environment].ServeHTTP(w, r)
	return w
}

func TestTheSixPathsAreServed(t *testing.T) {
	t.Parallel()
	for path, contentType := range contentTypes {
		t.Run(path, func(t *testing.T) {
			require.True(t, openapi.Serves(path))
			w := call(t, http.MethodGet, path, nil)
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, contentType, w.Header().Get("Content-Type"))
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
			require.NotEmpty(t, w.Body.String())

			head := call(t, http.MethodHead, path, nil)
			require.Equal(t, http.StatusOK, head.Code)
			require.Empty(t, head.Body.String())
			require.Equal(t, w.Header().Get("ETag"), head.Header().Get("ETag"))

			unchanged := call(t, http.MethodGet, path, http.Header{"If-None-Match": {w.Header().Get("ETag")}})
			require.Equal(t, http.StatusNotModified, unchanged.Code)
			require.Empty(t, unchanged.Body.String())

			other := call(t, http.MethodGet, path, http.Header{"If-None-Match": {`"other"`}})
			require.Equal(t, http.StatusOK, other.Code)

			refused := call(t, http.MethodPost, path, nil)
			require.Equal(t, http.StatusMethodNotAllowed, refused.Code)
			require.Equal(t, "GET, HEAD", refused.Header().Get("Allow"))
			require.Contains(t, refused.Body.String(), `"code":"method_not_allowed"`)
		})
	}
}

func TestNothingElseIsServed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/docs/", "/docs/errors/", "/docs/other", "/openapi", "/openapi.yml", "/orders"} {
		require.False(t, openapi.Serves(path), path)
		require.Equal(t, http.StatusNotFound, call(t, http.MethodGet, path, nil).Code, path)
	}
}

func TestPagesAreSelfContained(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/docs", "/docs/errors", "/docs/changelog"} {
		t.Run(path, func(t *testing.T) {
			w := get(t, path)
			page := w.Body.String()
			t.Run("the policy allows the one style sheet", func(t *testing.T) {
				style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(page, -1)
				require.Len(t, style, 1)
				sum := sha256.Sum256([]byte(style[0][1]))
				require.Contains(t, w.Header().Get("Content-Security-Policy"), base64.StdEncoding.EncodeToString(sum[:]))
				require.NotContains(t, style[0][1], "url(")
			})
			t.Run("nothing is loaded or executed", func(t *testing.T) {
				require.NotRegexp(t, `(?i)<(script|link|img|iframe|object|embed|form)\b|\son\w+=|\sstyle=|\ssrc=`, page)
				require.NotContains(t, page, "ZgotmplZ", "what the template engine writes for unsafe values")
			})
			t.Run("ids are unique and links within the page have a target", func(t *testing.T) {
				ids := map[string]bool{}
				for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
					require.False(t, ids[m[1]], "duplicate id %s", m[1])
					ids[m[1]] = true
				}
				for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
					require.True(t, ids[m[1]], "nothing at #%s", m[1])
				}
			})
		})
	}
}

func TestLinksBetweenThePagesHaveATarget(t *testing.T) {
	t.Parallel()
	errorsPage := get(t, "/docs/errors").Body.String()
	links := regexp.MustCompile(`href="([^#"][^"]*)"`).FindAllStringSubmatch(get(t, "/docs").Body.String(), -1)
	require.NotEmpty(t, links)
	for _, m := range links {
		path, anchor, _ := strings.Cut(m[1], "#")
		require.True(t, openapi.Serves("/"+path) || console.Serves(path), m[1])
		if anchor != "" {
			require.Contains(t, errorsPage, `id="`+anchor+`"`)
		}
	}
	require.Contains(t, errorsPage, `href="../docs"`)
	require.Contains(t, errorsPage, `href="changelog"`)
	changes := get(t, "/docs/changelog").Body.String()
	for _, href := range []string{"../docs", "errors", "changelog.atom"} {
		require.Contains(t, changes, `href="`+href+`"`)
	}
}

func TestTheReferenceShowsEveryOperation(t *testing.T) {
	t.Parallel()
	page := get(t, "/docs").Body.String()
	d := load(t)
	for _, section := range []string{"paths", "webhooks"} {
		d.each(section, func(path, _ string, op object) {
			require.Contains(t, page, `<h3 id="`+op["operationId"].(string)+`">`)
			require.Contains(t, page, "</span>"+path+"</p>")
		})
	}
	for name := range d.object(d.at("components", "schemas")) {
		require.Contains(t, page, `<h3 id="schema-`+name+`">`)
	}
}

func TestWebhooksAreNamedByTheTypeOfTheirEvent(t *testing.T) {
	t.Parallel()
	d := load(t)
	var feed []string
	for _, event := range d.at("components", "schemas", "FeedEvent", "anyOf").([]any) {
		feed = append(feed, texts(d.object(d.object(d.object(event)["properties"])["type"])["enum"])...)
	}
	unknown := d.schema("components", "schemas", "UnknownEvent", "properties", "type")
	require.NoError(t, unknown.Validate("order.renamed"))
	d.each("webhooks", func(name, method string, op object) {
		require.Equal(t, "post", method)
		require.Equal(t, []any{name}, d.at("webhooks", name, "post", "requestBody", "content", "application/json", "schema", "properties", "type", "enum"))
		require.Equal(t, name != "ping", slices.Contains(feed, name), "only a ping is not in the feed")
		require.Error(t, unknown.Validate(name), "UnknownEvent excludes every type that has a schema")
		require.Len(t, op["parameters"], 5)
	})
}
