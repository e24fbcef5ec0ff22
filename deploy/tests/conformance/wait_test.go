package conformance_test

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testWait checks calls that wait for an event of the feed or read from its end.
func testWait(t *testing.T, p *platform) {
	testFeedFromEnd(t, p)
	f := newFixture(t, p)
	f.place(t)
	f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")
	requirement(t, "WAI-2", func(t *testing.T) {
		began := time.Now()
		require.Len(t, f.read(t, "/events?wait=30")["items"], 2)
		require.Less(t, time.Since(began), 10*time.Second)
	})
	// afterLast is the parameter that reads from the last event on.
	afterLast := func(t *testing.T) string {
		t.Helper()
		return "after=" + url.QueryEscape(f.read(t, "/events")["nextCursor"].(string))
	}
	requirement(t, "WAI-1", func(t *testing.T) {
		answered := f.getInBackground(t, "/events?wait=30&"+afterLast(t))
		id := idOf(f.place(t))
		got := <-answered
		require.Equal(t, http.StatusOK, got.Status)
		require.Contains(t, got.Body, id)
		require.Contains(t, got.Body, `"type":"order.created"`)
	})
	requirement(t, "WAI-3", func(t *testing.T) {
		after, began := afterLast(t), time.Now()
		waited := f.Get(t, f.key, "/events?wait=1&"+after)
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		without := f.Get(t, f.key, "/events?"+after)
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

// testFeedFromEnd reads from the end of the feed of a tenant of its own.
func testFeedFromEnd(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "WAI-12", func(t *testing.T) {
		first := f.read(t, "/events?from=end")
		require.Empty(t, first["items"])
		early := idOf(f.place(t))
		f.requireEvents(t, f.key, early, "order.created")
		second := f.read(t, "/events?from=end")
		require.Empty(t, second["items"])
		late := idOf(f.place(t))
		f.requireEvents(t, f.key, late, "order.created")
		require.Len(t, f.read(t, "/events?after="+url.QueryEscape(first["nextCursor"].(string)))["items"], 2)
		require.Len(t, f.read(t, "/events?after="+url.QueryEscape(second["nextCursor"].(string)))["items"], 1)
		require.Len(t, f.read(t, "/events?from=start")["items"], 2)
	})
	requirement(t, "WAI-13", func(t *testing.T) {
		require.Empty(t, f.read(t, "/events?from=end&wait=1")["items"])
		answered := f.getInBackground(t, "/events?wait=30&from=end")
		// The call may begin before or after the order is placed. If it begins after, the next order answers it.
		require.Eventually(t, func() bool {
			f.place(t)
			select {
			case got := <-answered:
				require.Equal(t, http.StatusOK, got.Status)
				require.Contains(t, got.Body, `"type":"order.created"`)
				return true
			default:
				return false
			}
		}, 30*time.Second, time.Second)
	})
	requirement(t, "WAI-14", func(t *testing.T) {
		for _, query := range []string{"from=", "from=END", "from=now", "from=end&after=x", "from=start&after=x", "from=end&from=end"} {
			a := f.Send(t, call{Method: http.MethodGet, Path: "/events?" + query, Key: f.key})
			require.Equal(t, http.StatusBadRequest, a.Status, query)
			require.Contains(t, a.Body, `"field":"from"`, query)
		}
	})
}

// testIgnored sends members and parameters that the API does not know.
func testIgnored(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "IGN-1", func(t *testing.T) {
		body := f.body(t, with("urgnt", true), with("recipient.adress", record{}))
		placed := f.Send(t, call{Method: http.MethodPost, Path: "/orders", Key: f.key, Body: body})
		require.Equal(t, http.StatusCreated, placed.Status, placed.Body)
		require.Equal(t, []string{`"recipient.adress"`, `"urgnt"`}, namesIn(placed.Header.Get("Ignored-Members")))
		refused := f.Send(t, call{Method: http.MethodPost, Path: "/orders", Key: f.key, Body: `{"urgnt": true}`})
		require.Equal(t, http.StatusBadRequest, refused.Status)
		require.Equal(t, `"urgnt"`, refused.Header.Get("Ignored-Members"))
		require.Empty(t, f.Post(t, f.key, "/orders", f.body(t)).Header.Get("Ignored-Members"))
	})
	requirement(t, "IGN-3", func(t *testing.T) {
		require.Equal(t, "limt",
			f.Send(t, call{Method: http.MethodGet, Path: "/orders?limt=1&limit=1", Key: f.key}).Header.Get("Ignored-Parameters"))
	})
}

// namesIn are the sorted items of a header that is a list.
func namesIn(header string) []string { return slices.Sorted(strings.SplitSeq(header, ", ")) }

// getInBackground sends a GET and returns the channel of its answer.
func (f *fixture) getInBackground(t *testing.T, path string) <-chan answer {
	t.Helper()
	request := f.Request(t, call{Method: http.MethodGet, Path: path, Key: f.key})
	answered := make(chan answer, 1)
	go func() { answered <- exchange(request) }()
	return answered
}

// exchange sends a request from a goroutine that must not end the test. If the request fails, the status of the answer is zero.
func exchange(request *http.Request) answer {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return answer{}
	}
	defer func() { _ = response.Body.Close() }()
	content, _ := io.ReadAll(response.Body)
	return answer{Status: response.StatusCode, Header: response.Header, Body: string(content)}
}
