package inbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// sign returns the header with the signature of a body.
func sign(secret, body string) string {
	return gifting.WebhookHeaders([]byte(body), "", time.Now(), secret).Get("Service-Signature")
}

type delivery struct {
	Headers  map[string]string `json:"headers"`
	Body     any               `json:"body"`
	Raw      string            `json:"raw"`
	Path     string            `json:"path"`
	Verified bool              `json:"verified"`
}

func setup(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(inbox.New(secret).Handler())
	t.Cleanup(server.Close)
	return server
}

func send(t *testing.T, method, url, body, signature string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if signature != "" {
		req.Header.Set("Service-Signature", signature)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(answer)
}

func show(t *testing.T, server *httptest.Server) []delivery {
	t.Helper()
	status, text := send(t, http.MethodGet, server.URL+"/", "", "")
	require.Equal(t, http.StatusOK, status)
	var out []delivery
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

func TestInbox(t *testing.T) {
	t.Parallel()
	t.Run("an empty inbox shows an empty array", func(t *testing.T) {
		server := setup(t)
		_, text := send(t, http.MethodGet, server.URL+"/", "", "")
		require.Equal(t, "[]", strings.TrimSpace(text))
	})
	t.Run("shows what arrived, newest last, and whether it verified", func(t *testing.T) {
		server := setup(t)
		sent := []string{`{"id": "1"}`, `{"id":"2"}`}
		status, _ := send(t, http.MethodPost, server.URL+"/hooks/a", sent[0], sign(secret, sent[0]))
		require.Equal(t, http.StatusNoContent, status)
		status, _ = send(t, http.MethodPost, server.URL+"/", sent[1], sign("another", sent[1]))
		require.Equal(t, http.StatusNoContent, status)

		got := show(t, server)
		require.Len(t, got, 2)
		require.Equal(t, map[string]any{"id": "1"}, got[0].Body)
		require.Equal(t, sent[0], got[0].Raw)
		require.Equal(t, "/hooks/a", got[0].Path)
		require.NotEmpty(t, got[0].Headers["Service-Signature"])
		require.True(t, got[0].Verified)
		require.Equal(t, map[string]any{"id": "2"}, got[1].Body)
		require.False(t, got[1].Verified)
	})
	t.Run("a body that is no JSON is shown as a string", func(t *testing.T) {
		server := setup(t)
		send(t, http.MethodPost, server.URL+"/", "so \"it\" is", "")
		require.Equal(t, "so \"it\" is", show(t, server)[0].Body)
	})
	t.Run("shows what arrived at one path", func(t *testing.T) {
		server := setup(t)
		send(t, http.MethodPost, server.URL+"/a", "1", "")
		send(t, http.MethodPost, server.URL+"/b", "2", "")
		_, text := send(t, http.MethodGet, server.URL+"/?path=/b", "", "")
		var out []delivery
		require.NoError(t, json.Unmarshal([]byte(text), &out))
		require.Len(t, out, 1)
		require.Equal(t, "/b", out[0].Path)
	})
	t.Run("deletes all deliveries", func(t *testing.T) {
		server := setup(t)
		send(t, http.MethodPost, server.URL+"/", "{}", "")
		status, _ := send(t, http.MethodDelete, server.URL+"/", "", "")
		require.Equal(t, http.StatusNoContent, status)
		require.Empty(t, show(t, server))
	})
}

func TestInboxIsBounded(t *testing.T) {
	t.Parallel()
	box := inbox.New(secret)
	handler := box.Handler()
	const sent = 10_003
	for i := range sent {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(fmt.Sprint(i)))
		handler.ServeHTTP(httptest.NewRecorder(), req)
	}
	kept := box.Deliveries()
	require.Len(t, kept, 10_000)
	require.Equal(t, "3", kept[0].Raw)
	require.Equal(t, "10002", kept[len(kept)-1].Raw)
}
