//go:build browser

package giftsite_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inPieces puts a proxy in front of the fixture that sends pages in small pieces, as a bad network delivers them.
func (f *fixture) inPieces(t *testing.T) {
	t.Helper()
	const size, pause = 150, 20 * time.Millisecond
	origin, err := url.Parse(f.base)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(origin)
		r.Out.Header.Del("Accept-Encoding") // The pieces are those of the page.
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		proxy.ServeHTTP(whole, r)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(whole.Code)
		pieces := [][]byte{whole.Body.Bytes()}
		if strings.HasPrefix(whole.Header().Get("Content-Type"), "text/html") {
			pieces = slices.Collect(slices.Chunk(whole.Body.Bytes(), size))
		}
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for _, piece := range pieces {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
			<-tick.C
		}
	}))
	t.Cleanup(server.Close)
	f.base = server.URL
}

// A page is drawn when it is whole. Otherwise words that are centred move while more of them arrive.
func TestNothingMovesWhileAPageArrivesInPieces(t *testing.T) {
	everywhere(t, func(t *testing.T, f *fixture, b *browser, locale string) {
		f.reset(f.withLook(f.openPage(locale, "#1B4B8F")))
		f.inPieces(t)
		b.eachPageOf(t, f, func(name string) {
			m := b.measure(t)
			require.Zero(t, m.CLS, "%s: %s", name, m.Moved)
		})
	})
}
