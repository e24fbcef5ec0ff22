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
