package giftsite

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesOfThePagesAreStoredByBrowsers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	paths := []string{stylePath, scriptPath}
	for _, font := range fonts {
		paths = append(paths, font.path)
	}
	for _, path := range paths {
		got := f.do(http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, got.Code, path)
		require.Equal(t, "public, max-age=31536000, immutable", got.Header().Get("Cache-Control"))
		require.Empty(t, got.Header().Values("Set-Cookie"))
	}
	require.Equal(t, http.StatusNotFound, f.do(http.MethodGet, assetPrefix+"other.css", "").Code)
	require.Equal(t, http.StatusMethodNotAllowed, f.do(http.MethodPost, stylePath, "").Code)
}

func TestAFileOfAnotherVersionIsServedButNotStored(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for path, current := range map[string]string{
		"style.000000000000.css": stylePath, "site.0123456789ab.js": scriptPath,
		"fraunces-latin.000000000000.woff2": fonts[typeSerif].path,
	} {
		got, want := f.do(http.MethodGet, assetPrefix+path, ""), f.do(http.MethodGet, current, "")
		require.Equal(t, http.StatusOK, got.Code, path)
		require.Equal(t, want.body, got.body)
		require.Equal(t, want.Header().Get("Content-Type"), got.Header().Get("Content-Type"))
		require.Equal(t, "no-store", got.Header().Get("Cache-Control"))
		require.NotEqual(t, "no-store", want.Header().Get("Cache-Control"))
	}
	for _, path := range []string{
		"style.css", "style.00000000000.css", "style.00000000000g.css", "other.000000000000.css", "style.000000000000.js",
	} {
		require.Equal(t, http.StatusNotFound, f.do(http.MethodGet, assetPrefix+path, "").Code, path)
	}
}

func TestThePagesStaySmall(t *testing.T) {
	t.Parallel()
	require.Less(t, len(script), 10<<10)
	f := setup(t)
	total := len(f.do(http.MethodGet, "/c/"+token, "").body)
	for _, path := range []string{stylePath, scriptPath} {
		total += len(f.do(http.MethodGet, path, "", "Accept-Encoding", "gzip").body)
	}
	require.Less(t, total, 30<<10, "without pictures and fonts")
}

func TestAThemeHasNoOtherStyles(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{schemeAuto, schemeLight, schemeDark} {
		look := newTheme("#1B4B8F", "")
		look.Scheme, look.Typeface = scheme, typeSerif
		css := string(look.Style())
		require.Equal(t, scheme != schemeLight, strings.Contains(css, "color-scheme:dark"))
		require.Equal(t, scheme == schemeAuto, strings.Contains(css, "prefers-color-scheme:dark"))
		require.Contains(t, css, fonts[typeSerif].path)
	}
}
