package staticfile_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
)

var text = strings.Repeat("text ", 1000)

func compressed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func get(t *testing.T, f staticfile.File, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/file", nil)
	r.Header = header
	w := httptest.NewRecorder()
	(&staticfile.Handler{Files: map[string]staticfile.File{"/file": f}, Policy: "default-src 'none'"}).ServeHTTP(w, r)
	return w
}

// content reads the body as a browser does.
func content(t *testing.T, response *httptest.ResponseRecorder) string {
	t.Helper()
	body := io.Reader(response.Body)
	if response.Header().Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		require.NoError(t, err)
		body = unpacked
	}
	read, err := io.ReadAll(body)
	require.NoError(t, err)
	return string(read)
}

func TestTextsAreCompressedForThoseWhoAcceptIt(t *testing.T) {
	t.Parallel()
	for _, f := range []staticfile.File{
		staticfile.New("text/plain; charset=utf-8", staticfile.Revalidate, []byte(text)),
		staticfile.New("application/json", staticfile.Revalidate, []byte(text)),
		staticfile.FromGzip("text/javascript", staticfile.Versioned, compressed(t)),
	} {
		for accepted, want := range map[string]string{
			"": "", "gzip": "gzip", "br, GZIP;q=0.5": "gzip", "*": "gzip", "*;q=0": "", "gzip;q=0, *": "", "br": "", "gzip; q=x": "",
			"identity": "",
		} {
			response := get(t, f, http.Header{"Accept-Encoding": {accepted}})
			require.Equal(t, want, response.Header().Get("Content-Encoding"), accepted)
			require.Equal(t, "Accept-Encoding", response.Header().Get("Vary"))
			require.Equal(t, text, content(t, response), accepted)
		}
	}
}

func TestAFileIsServedAsAWhole(t *testing.T) {
	t.Parallel()
	f := staticfile.New("text/plain", staticfile.Revalidate, []byte(text))
	for _, ranges := range []string{"bytes=0-1", "bytes=" + strings.Repeat("0-0,", 5000) + "0-0", "bytes=999999999-"} {
		response := get(t, f, http.Header{"Range": {ranges}})
		require.Equal(t, http.StatusOK, response.Code)
		require.Empty(t, response.Header().Get("Accept-Ranges"))
		require.Equal(t, strconv.Itoa(len(text)), response.Header().Get("Content-Length"))
		require.Equal(t, text, response.Body.String())
	}
}

func TestAFileThatTheReaderHasIsNotSentAgain(t *testing.T) {
	t.Parallel()
	f := staticfile.New("text/plain", staticfile.Revalidate, []byte(text))
	tag := get(t, f, nil).Header().Get("ETag")
	for condition, want := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, "x": 200} {
		response := get(t, f, http.Header{"If-None-Match": {condition}})
		require.Equal(t, want, response.Code, condition)
		require.Equal(t, want == 304, response.Body.Len() == 0)
		require.Equal(t, tag, response.Header().Get("ETag"))
	}
}

func TestAFileKeepsATextOnlyCompressed(t *testing.T) {
	t.Parallel()
	content := []byte(text)
	plain, f := weak.Make(&content[0]), staticfile.New("text/plain", staticfile.Revalidate, content)
	require.Eventually(t, func() bool {
		runtime.GC()
		return plain.Value() == nil
	}, 30*time.Second, time.Millisecond)
	require.Equal(t, text, get(t, f, nil).Body.String())
}

func TestTheFormsOfAFileHaveTheirOwnETags(t *testing.T) {
	t.Parallel()
	f := staticfile.New("text/plain", staticfile.Revalidate, []byte(text))
	plain, small := get(t, f, nil), get(t, f, http.Header{"Accept-Encoding": {"gzip"}})
	require.NotEqual(t, plain.Header().Get("ETag"), small.Header().Get("ETag"))
	for _, header := range []http.Header{
		{"If-None-Match": {plain.Header().Get("ETag")}},
		{"If-None-Match": {small.Header().Get("ETag")}, "Accept-Encoding": {"gzip"}},
	} {
		require.Equal(t, http.StatusNotModified, get(t, f, header).Code)
	}
}

func TestWhatWouldNotBecomeSmallerIsNotCompressed(t *testing.T) {
	t.Parallel()
	for _, f := range []staticfile.File{
		staticfile.New("text/plain", staticfile.Revalidate, []byte("short")),
		staticfile.New("image/png", staticfile.Revalidate, []byte(text)),
	} {
		response := get(t, f, http.Header{"Accept-Encoding": {"gzip"}})
		require.Empty(t, response.Header().Get("Content-Encoding"))
		require.Empty(t, response.Header().Get("Vary"))
	}
}

func TestAFreshFileIsMadeForEachResponse(t *testing.T) {
	t.Parallel()
	count := 0
	f := staticfile.Fresh("text/html", func() ([]byte, string) {
		count++
		return []byte{byte('0' + count)}, "script-src 'self'"
	})
	for _, want := range []string{"1", "2"} {
		response := get(t, f, nil)
		require.Equal(t, want, content(t, response))
		require.Equal(t, "no-store", response.Header().Get("Cache-Control"))
		require.Equal(t, "script-src 'self'", response.Header().Get("Content-Security-Policy"))
		require.Empty(t, response.Header().Get("ETag"))
	}
}

func TestAFileIsForItsOwnOriginUnlessItIsForAll(t *testing.T) {
	t.Parallel()
	f := staticfile.New("text/plain", staticfile.Revalidate, []byte(text))
	require.Empty(t, get(t, f, nil).Header().Get("Access-Control-Allow-Origin"))
	require.Equal(t, "*", get(t, f.ForAnyOrigin(), nil).Header().Get("Access-Control-Allow-Origin"))
}
