package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTailBeginsAtTheEndOfTheFeed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked = append(asked, req.URL.RawQuery)
		switch req.URL.Query().Get("after") {
		case "end":
			_, _ = io.WriteString(w, feedPage)
		case "":
			_, _ = io.WriteString(w, `{"items":[],"nextCursor":"end"}`)
		default:
			cancel()
		}
	}))
	t.Cleanup(server.Close)
	u := &user{env: map[string]string{"GIFTING_URL": server.URL, "GIFTING_KEY": "key"}, in: strings.NewReader("")}
	got := u.runIn(ctx, "events", "tail")
	require.Equal(t, 130, got.code, got.err)
	require.Equal(t, 2, strings.Count(got.out, "\n"), got.out)
	require.Contains(t, got.err, "--after c2")
	require.Equal(t, "from=end", asked[0])
	require.Equal(t, "after=end&wait=30", asked[1], "the feed is not read to find its end")
}
