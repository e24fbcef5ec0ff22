package docs_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/docs"
	"github.com/partnergifting/platform/gateway/internal/console"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

// tryPath is the path of the page that sends requests, and needs a script.
const tryPath = "/docs/reference/try"

const (
	base      = "/api/public/v1"
	publicURL = "https://gifts.test" + base
)

var environments = []apikey.Environment{apikey.Production, apikey.Sandbox}

// sites are made once for all tests, because they have no state.
var sites = sync.OnceValues(func() (made map[apikey.Environment]*docs.Site, err error) {
	made = map[apikey.Environment]*docs.Site{}
	for _, environment := range environments {
		document, err := openapi.New(publicURL, environment, nil)
		if err != nil {
			return nil, err
		}
		if made[environment], err = docs.New(document, base, docs.Operator{}, slog.Default()); err != nil {
			return nil, err
		}
	}
	return made, nil
})

func site(t *testing.T, environment apikey.Environment) *docs.Site {
	t.Helper()
	made, err := sites()
	require.NoError(t, err)
	return made[environment]
}

// call calls the site of the sandbox, which has all of the other and more.
func call(t *testing.T, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	return callOn(t, site(t, apikey.Sandbox), method, path, header)
}

func callOn(t *testing.T, s *docs.Site, method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	r.Header = header
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// read reads a file of the sandbox below the base path.
func read(t *testing.T, path string) string {
	t.Helper()
	w := call(t, http.MethodGet, base+path, nil)
	require.Equal(t, http.StatusOK, w.Code, path)
	return w.Body.String()
}

// pages are the paths of the pages that need no script.
func pages(t *testing.T) (paths []string) {
	t.Helper()
	all, err := site(t, apikey.Sandbox).Paths()
	require.NoError(t, err)
	for _, path := range all {
		w := call(t, http.MethodGet, path, nil)
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && path != base+tryPath {
			paths = append(paths, path)
		}
	}
	require.Greater(t, len(paths), 10)
	slices.Sort(paths)
	return paths
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	for path, contentType := range map[string]string{
		base + "/docs":                 "text/html; charset=utf-8",
		base + "/docs/quickstart.md":   "text/markdown; charset=utf-8",
		base + "/docs/changelog.atom":  "application/atom+xml; charset=utf-8",
		base + "/docs/llms.txt":        "text/plain; charset=utf-8",
		base + "/docs/assets/site.css": "text/css; charset=utf-8",
		base + "/openapi.json":         "application/json",
		base + "/openapi.yaml":         "application/yaml",
		"/favicon.ico":                 "image/x-icon",
		"/robots.txt":                  "text/plain; charset=utf-8",
	} {
		w := call(t, http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, w.Code, path)
		require.Equal(t, contentType, w.Header().Get("Content-Type"), path)
	}
}

func TestEveryFileIsServed(t *testing.T) {
	t.Parallel()
	s := site(t, apikey.Sandbox)
	all, err := s.Paths()
	require.NoError(t, err)
	for _, path := range all {
		t.Run(path, func(t *testing.T) {
			require.True(t, s.Serves(path))
			w := call(t, http.MethodGet, path, nil)
			require.Equal(t, http.StatusOK, w.Code)
			require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'")
			require.NotEmpty(t, w.Body.String())

			head := call(t, http.MethodHead, path, nil)
			require.Equal(t, http.StatusOK, head.Code)
			require.Empty(t, head.Body.String())

			refused := call(t, http.MethodPost, path, nil)
			require.Equal(t, http.StatusMethodNotAllowed, refused.Code)
			require.Equal(t, "GET, HEAD", refused.Header().Get("Allow"))
			require.Contains(t, refused.Body.String(), `"code":"method_not_allowed"`)
			if path == base+tryPath {
				require.Equal(t, "no-store", w.Header().Get("Cache-Control"), "each response has its own nonce")
				return
			}
			etag := w.Header().Get("ETag")
			require.Equal(t, etag, head.Header().Get("ETag"))
			unchanged := call(t, http.MethodGet, path, http.Header{"If-None-Match": {etag}})
			require.Equal(t, http.StatusNotModified, unchanged.Code)
			require.Empty(t, unchanged.Body.String())
			require.Equal(t, http.StatusOK, call(t, http.MethodGet, path, http.Header{"If-None-Match": {`"other"`}}).Code)
		})
	}
}

func TestThePathsOfTheAPIAreNotServed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		base, base + "/", base + "/orders", base + "/docsx", base + "/openapi", base + "/openapi.yml",
		base + "/nothing/docs",
	} {
		require.False(t, site(t, apikey.Sandbox).Serves(path), path)
	}
}

func TestEveryOtherAddressHasAPageForPeople(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		base + "/docs/other", base + "/docs/errors/other", base + "x", "/api/public", "/orders", "/docs/other",
	} {
		require.True(t, site(t, apikey.Sandbox).Serves(path), path)
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			got := call(t, method, path, nil)
			require.Equal(t, http.StatusNotFound, got.Code, path)
			require.Equal(t, "text/html; charset=utf-8", got.Header().Get("Content-Type"))
			require.Empty(t, got.Header().Get("ETag"))
		}
	}
	page := call(t, http.MethodGet, base+"/docs/other", nil).Body.String()
	require.Contains(t, page, "There is no such page")
	require.Contains(t, page, `data-index="`+base+`/docs/search.json"`)
	require.NotContains(t, page, "missing.md")
	for _, m := range target.FindAllStringSubmatch(page, -1) {
		require.True(t, m[1] == "" || site(t, apikey.Sandbox).Has(m[1]) || console.Serves(m[1]), m[0])
	}
}

func TestGuidesSayWhenTheyWereEdited(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("guides/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	shown := regexp.MustCompile(`<time datetime="(.*)">(.*)</time>`)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		found := shown.FindStringSubmatch(read(t, strings.TrimSuffix("/docs/"+name, "/index")))
		require.Len(t, found, 3, "%s ends with <!-- edited: 2026-11-29 -->", file)
		day, err := time.Parse(time.DateOnly, found[1])
		require.NoError(t, err, file)
		require.False(t, day.After(time.Now()), file)
		require.NotContains(t, read(t, "/docs/"+name+".md"), "edited:")
	}
	require.NotRegexp(t, shown, read(t, "/docs/reference"), "it is made from the contract")
}

func TestAMarkdownPageThatDoesNotExistIsShortText(t *testing.T) {
	t.Parallel()
	for _, path := range []string{base + "/docs/other.md", "/other.md"} {
		got := call(t, http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, got.Code)
		require.Equal(t, "text/plain; charset=utf-8", got.Header().Get("Content-Type"))
		require.Equal(t, "There is no such page. "+base+"/docs/llms.txt lists all.\n", got.Body.String())
	}
}

func TestAddressesThatPeopleTypeLeadToTheirPages(t *testing.T) {
	t.Parallel()
	for from, to := range map[string]string{
		"/": "/docs", "/docs": "/docs", "/docs/": "/docs", "/docs/webhooks": "/docs/webhooks", "/docs/webhooks//": "/docs/webhooks",
		base + "/docs/": "/docs", base + "/docs/webhooks/": "/docs/webhooks", "/openapi.json": "/openapi.json",
		"/docs.md": "/docs/index.md", base + "/docs.md": "/docs/index.md", "/llms.txt": "/docs/llms.txt",
	} {
		got := call(t, http.MethodGet, from, nil)
		require.Equal(t, http.StatusMovedPermanently, got.Code, from)
		require.Equal(t, base+to, got.Header().Get("Location"), from)
		require.Contains(t, got.Body.String(), `"`+base+to+`"`, "a reader without a browser sees only the body")
		require.True(t, site(t, apikey.Sandbox).Serves(from), from)
	}
}

func TestToolsOfOtherSitesMayLoadTheDocument(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/openapi.json": "*", "/openapi.yaml": "*", "/docs/errors.md": "*", "/docs/llms.txt": "*", "/docs": "",
	} {
		w := call(t, http.MethodGet, base+path, http.Header{"Origin": {"https://editor.test"}})
		require.Equal(t, want, w.Header().Get("Access-Control-Allow-Origin"), path)
	}
}

func TestPagesLoadOnlyWhatTheSiteHas(t *testing.T) {
	t.Parallel()
	s := site(t, apikey.Sandbox)
	loaded := regexp.MustCompile(
		`(?:<script[^>]* src|<link rel="(?:icon|stylesheet|alternate|modulepreload)"[^>]* href|data-[a-z]+)="([^"]*)"`)
	for _, path := range append(pages(t), base+tryPath) {
		t.Run(path, func(t *testing.T) {
			page := call(t, http.MethodGet, path, nil).Body.String()
			require.NotRegexp(t, `(?i)<(img|iframe|object|embed|form|style)\b|<[^>]*\s(on\w+|style)=|<script>`, page)
			require.NotContains(t, page, "ZgotmplZ", "what the template engine writes for unsafe values")
			require.NotContains(t, page, "raw HTML omitted")
			found := loaded.FindAllStringSubmatch(page, -1)
			require.NotEmpty(t, found)
			for _, m := range found {
				require.True(t, s.Has(m[1]), m[1])
			}
		})
	}
}

// target finds what a link leads to, and its anchor.
var target = regexp.MustCompile(`href="([^"#]*)(#[^"]*)?"`)

func TestLinksHaveATarget(t *testing.T) {
	t.Parallel()
	s := site(t, apikey.Sandbox)
	for _, path := range pages(t) {
		t.Run(path, func(t *testing.T) {
			page := call(t, http.MethodGet, path, nil).Body.String()
			for _, m := range target.FindAllStringSubmatch(page, -1) {
				to, anchor := m[1], strings.TrimPrefix(m[2], "#")
				if to == "" {
					to = path
				}
				if strings.HasPrefix(to, "https://") || console.Serves(to) {
					continue
				}
				require.True(t, s.Has(to), m[0])
				if anchor != "" && to != base+tryPath {
					require.Contains(t, call(t, http.MethodGet, to, nil).Body.String(), ` id="`+anchor+`"`, m[0])
				}
			}
			ids := map[string]bool{}
			for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
				require.False(t, ids[m[1]], "duplicate id %s", m[1])
				ids[m[1]] = true
			}
		})
	}
}

func TestRobotsMayReadTheSiteAndWhatAPreviewOfALinkNeeds(t *testing.T) {
	t.Parallel()
	robots := call(t, http.MethodGet, "/robots.txt", nil).Body.String()
	require.Equal(t,
		"User-agent: *\nAllow: "+base+"/docs\nAllow: "+base+"/openapi\nAllow: /c/\nAllow: "+base+"/catalog/images/\nDisallow: /\n",
		robots)
}
