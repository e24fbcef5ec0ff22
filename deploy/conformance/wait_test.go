package conformance_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testWait waits for events of a tenant of its own.
func testWait(t *testing.T, p *platform) {
	f := newFixture(t, p)
	f.place(t)
	f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")
	requirement(t, "WAI-2", func(t *testing.T) {
		began := time.Now()
		require.Len(t, f.read(t, "/events?wait=30")["items"], 2)
		require.Less(t, time.Since(began), 10*time.Second)
	})
	end := func(t *testing.T) string {
		t.Helper()
		return "&after=" + url.QueryEscape(f.read(t, "/events")["nextCursor"].(string))
	}
	requirement(t, "WAI-1", func(t *testing.T) {
		answered := f.begin(t, "/events?wait=30"+end(t))
		id := idOf(f.place(t))
		got := <-answered
		require.Equal(t, http.StatusOK, got.Status)
		require.Contains(t, got.Body, id)
		require.Contains(t, got.Body, `"type":"order.created"`)
	})
	requirement(t, "WAI-3", func(t *testing.T) {
		after, began := end(t), time.Now()
		waited := f.Get(t, f.key, "/events?wait=1"+after)
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		without := f.Get(t, f.key, "/events?"+after[1:])
		require.Equal(t, without.Body, waited.Body)
		require.Equal(t, "end", waited.Header.Get("Feed-Position"))
		require.Empty(t, waited.Header.Get("Wait"))
	})
	requirement(t, "WAI-4", func(t *testing.T) {
		for _, query := range []string{"wait=", "wait=31", "wait=-1", "wait=1.5", "wait=1&wait=1"} {
			a := f.Send(t, call{Method: http.MethodGet, Path: "/events?" + query, Key: f.key})
			require.Equal(t, http.StatusBadRequest, a.Status, query)
			require.Contains(t, a.Body, `"field":"wait"`, query)
		}
	})
}

// begin begins a call in the background.
func (f *fixture) begin(t *testing.T, path string) <-chan answer {
	t.Helper()
	request := f.Request(t, call{Method: http.MethodGet, Path: path, Key: f.key})
	answered := make(chan answer, 1)
	go func() {
		defer close(answered) // Without an answer the test fails.
		answered <- exchange(request)
	}()
	return answered
}

// exchange sends a request from any goroutine. A request that fails has the status zero.
func exchange(request *http.Request) answer {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return answer{}
	}
	defer func() { _ = response.Body.Close() }()
	content, _ := io.ReadAll(response.Body)
	return answer{Status: response.StatusCode, Header: response.Header, Body: string(content)}
}
