package gifting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// feed is a server with a feed of numbered events. Its cursor is the number of the last event, and a call that waits is held until
// there is one.
type feed struct {
	mu     sync.Mutex
	events int
	// added is closed when there are more events.
	added chan struct{}
	// fail answers the next calls in place of the feed.
	fail []func(http.ResponseWriter)
	// held counts the calls that wait.
	held chan struct{}
}

func newFeed(t *testing.T, events int) (*feed, *gifting.Client) {
	t.Helper()
	f := &feed{events: events, added: make(chan struct{}), held: make(chan struct{}, 100)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key", gifting.WithMaxAttempts(1)) // What is repeated is repeated by the feed.
	require.NoError(t, err)
	return f, client
}

func (f *feed) add(count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events += count
	close(f.added)
	f.added = make(chan struct{})
}

func (f *feed) failNext(answers ...func(http.ResponseWriter)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = append(f.fail, answers...)
}

// ServeHTTP implements http.Handler.
func (f *feed) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	after, _ := strconv.Atoi(req.URL.Query().Get("after"))
	f.mu.Lock()
	if len(f.fail) > 0 {
		fail := f.fail[0]
		f.fail = f.fail[1:]
		f.mu.Unlock()
		fail(w)
		return
	}
	events, added := f.events, f.added
	f.mu.Unlock()
	if events == after && req.URL.Query().Has("wait") {
		f.held <- struct{}{}
		select {
		case <-added:
			f.ServeHTTP(w, req)
		case <-req.Context().Done():
		}
		return
	}
	last := min(after+3, events)
	items := []json.RawMessage{}
	for i := after + 1; i <= last; i++ {
		items = append(items,
			json.RawMessage(fmt.Sprintf(`{"id":"%d","type":"ping","occurredAt":"2026-01-01T00:00:00Z","environment":"sandbox","data":{}}`,
				i)))
	}
	if last == events {
		w.Header().Set("Feed-Position", "end")
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items, "nextCursor": strconv.Itoa(last)})
}

// drop closes the connection, after a part of an answer or before it.
func drop(part string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = conn.Write([]byte(part))
			_ = conn.Close()
		}
	}
}

func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

func TestTheFeedHasEachEventOnceThoughConnectionsBreak(t *testing.T) {
	t.Parallel()
	f, client := newFeed(t, 4)
	retries := 0
	want := 1
	for page, err := range client.Events.Feed(t.Context(), gifting.FeedOptions{OnDisconnect: func(error) { retries++ }}) {
		require.NoError(t, err)
		for _, event := range page.Items {
			require.Equal(t, strconv.Itoa(want), event.ID)
			want++
		}
		require.Equal(t, strconv.Itoa(want-1), page.NextCursor)
		switch want - 1 {
		case 3:
			f.failNext(drop("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"items\":[{\"id\":\"4\""), status(503, ""))
		case 4:
			f.failNext(drop(""))
			f.add(1)
		case 5:
			go func() { // The next call is held, and answered when there is an event.
				<-f.held
				f.add(2)
			}()
		}
		if want == 8 {
			break
		}
	}
	require.Equal(t, 8, want)
	require.GreaterOrEqual(t, retries, 2, "net/http itself repeats a call whose connection was closed before an answer")
}

func TestTheFeedGoesOnFromAStoredCursor(t *testing.T) {
	t.Parallel()
	_, client := newFeed(t, 8)
	var seen []string
	for cursor := ""; cursor != "8"; { // A program that stops after each page.
		for page, err := range client.Events.Feed(t.Context(), gifting.FeedOptions{After: cursor}) {
			require.NoError(t, err)
			for _, event := range page.Items {
				seen = append(seen, event.ID)
			}
			cursor = page.NextCursor
			break
		}
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "8"}, seen)
}

func TestTheFeedEnds(t *testing.T) {
	t.Parallel()
	t.Run("when its context does", func(t *testing.T) {
		f, client := newFeed(t, 0)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-f.held
			cancel()
		}()
		for page, err := range client.Events.Feed(ctx, gifting.FeedOptions{}) {
			require.Nil(t, page)
			require.ErrorIs(t, err, context.Canceled)
		}
	})
	for code, lost := range map[string]bool{"events_lost": true, "invalid": false} {
		t.Run("when the cursor is "+code, func(t *testing.T) {
			f, client := newFeed(t, 1)
			f.failNext(status(400, `{"code":"invalid_request","errors":[{"field":"after","code":"`+code+`"}]}`))
			for _, err := range client.Events.Feed(t.Context(), gifting.FeedOptions{After: "1"}) {
				require.Equal(t, lost, errors.Is(err, gifting.ErrEventsLost))
				require.True(t, gifting.HasCode(err, gifting.CodeInvalidRequest))
			}
		})
	}
	t.Run("when the key is refused", func(t *testing.T) {
		f, client := newFeed(t, 1)
		f.failNext(status(401, `{"code":"invalid_api_key"}`))
		for _, err := range client.Events.Feed(t.Context(), gifting.FeedOptions{}) {
			require.True(t, gifting.HasCode(err, gifting.CodeInvalidAPIKey))
			require.NotErrorIs(t, err, gifting.ErrEventsLost)
		}
	})
}

func TestTheFeedDoesNotHurryWhenTheAPIDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &stub{script: script{answered(200, `{"items":[],"nextCursor":"a"}`, "Feed-Position", "end", "Wait", "0")}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second+time.Millisecond)
		defer cancel()
		pages := 0
		for _, err := range newClient(t, transport).Events.Feed(ctx, gifting.FeedOptions{}) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			pages++
		}
		require.Equal(t, 1, pages, "the one that moved the cursor")
		require.Len(t, transport.attempts, 11)
		require.Equal(t, "https://api.example.com/api/public/v1/events?after=a&wait=30", transport.attempts[1].url)
	})
}

func TestACursorThatDoesNotMoveIsReadOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// A proxy has removed the header that says whether this is the end.
		transport := &stub{script: script{answered(200, `{"items":[],"nextCursor":"a"}`)}}
		client := newClient(t, transport)
		ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
		defer cancel()
		for _, err := range client.Events.Feed(ctx, gifting.FeedOptions{After: "a"}) {
			require.Error(t, err)
		}
		require.Len(t, transport.attempts, 11)
		for page, err := range client.Events.Feed(t.Context(), gifting.FeedOptions{After: "a", StopAtEnd: true}) {
			require.Fail(t, "this is the end", "%v %v", page, err)
		}
		require.Len(t, transport.attempts, 12)
	})
}

func TestAPageWithoutEventsMovesTheFeedOn(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{
		answered(200, `{"items":[],"nextCursor":"a"}`),
		answered(200, `{"items":[],"nextCursor":"b"}`),
		answered(200, `{"items":[`+eventOf("order.returned", `{}`)+`],"nextCursor":"c"}`, "Feed-Position", "end"),
	}}
	var cursors []string
	for page, err := range newClient(t, transport).Events.Feed(t.Context(), gifting.FeedOptions{StopAtEnd: true}) {
		require.NoError(t, err)
		cursors = append(cursors, page.NextCursor)
	}
	require.Equal(t, []string{"a", "b", "c"}, cursors)
	require.Len(t, transport.attempts, 3)
	require.Equal(t, "https://api.example.com/api/public/v1/events?after=a", transport.attempts[1].url, "no wait")
}

func TestTheFeedBeginsAtItsEndAndALostAnswerDoesNotMoveTheBeginning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &stub{script: script{
			broken,
			answered(200, `{"items":[],"nextCursor":"now"}`, "Feed-Position", "end"),
			broken,
			answered(200, `{"items":[`+eventOf("ping", `{}`)+`],"nextCursor":"b"}`, "Feed-Position", "end"),
		}}
		failures := 0
		options := gifting.FeedOptions{From: gifting.FeedEnd, OnDisconnect: func(err error) {
			require.ErrorIs(t, err, errBroken)
			failures++
		}}
		for page, err := range newClient(t, transport).Events.Feed(t.Context(), options) {
			require.NoError(t, err)
			if len(page.Items) > 0 {
				break
			}
		}
		require.Equal(t, 2, failures, "each is told at once")
		var queries []string
		for _, a := range transport.attempts {
			queries = append(queries, queryOf(t, a).Encode())
		}
		require.Equal(t, []string{"from=end", "from=end", "after=now&wait=30", "after=now&wait=30"}, queries)
		for _, err := range newClient(t, transport).Events.Feed(
			t.Context(), gifting.FeedOptions{From: gifting.FeedEnd, After: "a", StopAtEnd: true},
		) {
			require.NoError(t, err)
		}
		require.Equal(t, "after=a", queryOf(t, transport.attempts[4]).Encode(), "a cursor goes first")
	})
}

func TestAPageThatWaitsAtTheEndHasTheEventOfALostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &stub{script: script{
			answered(200, `{"items":[],"nextCursor":"now"}`, "Feed-Position", "end"),
			broken,
			answered(200, `{"items":[`+eventOf("ping", `{}`)+`],"nextCursor":"b"}`, "Feed-Position", "end"),
		}}
		page, err := newClient(t, transport).Events.List(t.Context(), gifting.ListEventsQuery{
			Paging: gifting.Paging{Limit: 5}, From: gifting.FeedEnd, Wait: 30 * time.Second,
		})
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		var queries []string
		for _, a := range transport.attempts {
			queries = append(queries, queryOf(t, a).Encode())
		}
		require.Equal(t, []string{"from=end&limit=5", "after=now&limit=5&wait=30", "after=now&limit=5&wait=30"}, queries)
	})
}

func TestAnEmptyFeedKeepsTheCursor(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, `{"items":[],"nextCursor":null}`, "Feed-Position", "end")}}
	page, err := newClient(t, transport).Events.List(t.Context(), gifting.ListEventsQuery{})
	require.NoError(t, err)
	require.True(t, page.AtEnd)
	require.Empty(t, page.NextCursor)
}

func TestTheFeedBeginsNowhereElse(t *testing.T) {
	t.Parallel()
	transport := &stub{}
	for _, err := range newClient(t, transport).Events.Feed(t.Context(), gifting.FeedOptions{From: "End"}) {
		require.ErrorContains(t, err, "the position to begin from is neither start nor end: End")
	}
	require.Empty(t, transport.attempts)
}

func TestTheFeedWaitsWholeSeconds(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{-time.Second, 500 * time.Millisecond, 1500 * time.Millisecond, 31 * time.Second} {
		transport := &stub{script: script{answered(200, `{"items":[],"nextCursor":"a"}`)}}
		client := newClient(t, transport)
		_, err := client.Events.List(t.Context(), gifting.ListEventsQuery{Wait: wait})
		require.ErrorContains(t, err, "the wait is not a whole number of seconds, 1 to 30")
		for _, err := range client.Events.Feed(t.Context(), gifting.FeedOptions{Wait: wait, StopAtEnd: true}) {
			require.ErrorContains(t, err, "the wait is not a whole number of seconds, 1 to 30")
		}
		require.Empty(t, transport.attempts)
	}
}
