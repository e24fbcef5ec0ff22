package console_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/console"
	"github.com/partnergifting/platform/gateway/internal/httperror"
)

// libraryFiles are the digests of the files in the npm package lit-html 3.3.3.
var libraryFiles = map[string]string{
	"directive-helpers.js": "f7fb1154b8f72ed2cc08b05eaeed71c99270e9ad2d48620ed24688a1af4c2b62",
	"directive.js":         "3344c4f41c69cd0701d3937e8f9ef90bd845614bf6456d0b8314b7c51d415b9d",
	"lit-html.js":          "b878e7f95dec8a9b6e9b217faca6b6a11bad82ebc44c0caa77419ed83edd81f2",
	"directives/repeat.js": "083140026ecd8665fedd15b17769f9d516252a9f1502f1e91e6967686ee82626",
}

func request(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := console.New("https://sandbox.example.com/api/public/v1", httperror.Writer{})
	require.NoError(t, err)
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestThePageRunsOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	page := request(t, http.MethodGet, "/sandbox")
	require.Equal(t, http.StatusOK, page.Code)
	require.Contains(t, page.Body.String(), `data-api="/api/public/v1"`)
	require.NotRegexp(t, `(?i)<script>|<style|\son\w+=|style=|javascript:`, page.Body.String())
	policy := page.Header().Get("Content-Security-Policy")
	for _, directive := range []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
	} {
		require.Contains(t, policy, directive+";", directive)
	}
	require.NotContains(t, policy, "unsafe")
}

func TestFilesAreCachedByTheirContentOrVersion(t *testing.T) {
	t.Parallel()
	for path, tc := range map[string]struct{ kind, cache string }{
		"/sandbox":                            {"text/html; charset=utf-8", "no-cache"},
		"/sandbox/app.js":                     {"text/javascript; charset=utf-8", "no-cache"},
		"/sandbox/console.css":                {"text/css; charset=utf-8", "no-cache"},
		"/sandbox/icon.svg":                   {"image/svg+xml", "no-cache"},
		"/sandbox/lit-html-3.3.3/lit-html.js": {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
	} {
		got := request(t, http.MethodGet, path)
		require.Equal(t, http.StatusOK, got.Code, path)
		require.Equal(t, []string{tc.kind, tc.cache}, []string{got.Header().Get("Content-Type"), got.Header().Get("Cache-Control")}, path)
		require.Equal(t, http.StatusNotModified, request(t, http.MethodGet, path, "If-None-Match", got.Header().Get("ETag")).Code)
		head := request(t, http.MethodHead, path)
		require.Equal(t, http.StatusOK, head.Code)
		require.Empty(t, head.Body.String())
		posted := request(t, http.MethodPost, path)
		require.Equal(t, []any{http.StatusMethodNotAllowed, "GET, HEAD"}, []any{posted.Code, posted.Header().Get("Allow")})
	}
	for _, path := range []string{
		"/sandbox/", "/sandbox/index.html", "/sandbox/console.go", "/sandbox/../gateway.go",
		"/sandbox/lit-html-3.3.3",
	} {
		require.Equal(t, http.StatusNotFound, request(t, http.MethodGet, path).Code, path)
	}
}

func TestTheLibraryIsThePublishedOne(t *testing.T) {
	t.Parallel()
	for name, digest := range libraryFiles {
		content, err := os.ReadFile(filepath.Join("assets/lit-html-3.3.3", name))
		require.NoError(t, err)
		sum := sha256.Sum256(content)
		require.Equal(t, digest, hex.EncodeToString(sum[:]), name)
	}
	all, err := filepath.Glob("assets/lit-html-3.3.3/*.js")
	require.NoError(t, err)
	more, err := filepath.Glob("assets/lit-html-3.3.3/*/*.js")
	require.NoError(t, err)
	require.Len(t, libraryFiles, len(all)+len(more))
	require.Contains(t, request(t, http.MethodGet, "/sandbox/lit-html-3.3.3/LICENSE").Body.String(), "BSD 3-Clause")
}

// The API key is only in sessionStorage, which no other tab reads, and is not logged. Nothing from the API is parsed as HTML or run
// as a script.
func TestTheScriptsUseNothingDangerous(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("assets/*.js")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, name := range scripts {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, word := range []string{
			"localStorage", "document.cookie", "innerHTML", "outerHTML", "insertAdjacentHTML", "unsafeHTML", "document.write", "eval(",
			"Function(",
			"setInterval", "console.log",
		} {
			require.NotContains(t, string(content), word, name)
		}
	}
}
