package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnyPathIsRead(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"GET /later": `{"new":"\u001b[2J","amount":10.50}`})
	for _, path := range []string{"/later?limit=1&x=%2B", "later?limit=1&x=%2B"} {
		got := server.user().run(t, "get", path)
		require.Zero(t, got.code, got.err)
		const text = "{\n  \"new\": \"\\u001b[2J\",\n  \"amount\": 10.50\n}\n"
		require.Equal(t, text, got.out, "as JSON, with any -o") //nolint:testifylint // The text matters too: 10.50 is not 10.5.
	}
	require.Equal(t, []string{"GET /later limit=1&x=%2B ", "GET /later limit=1&x=%2B "}, server.sent)
	require.Equal(t, 4, server.user().run(t, "get", "/none").code)
	require.Equal(t, 2, server.user().run(t, "get").code)
	require.Equal(t, 2, server.user().run(t, "get", "/later", "limit=1").code)
}

func TestWhatIsNoJSONIsPrintedAsItIs(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, "\x89PNG\x00")
	}))
	t.Cleanup(server.Close)
	got := (&api{Server: server}).user().run(t, "get", "/catalog/images/1")
	require.Zero(t, got.code, got.err)
	require.Equal(t, "\x89PNG\x00", got.out)
}

func TestAnyPathIsPosted(t *testing.T) {
	t.Parallel()
	server := newAPI(t, map[string]string{"POST /later": `{"id":"1"}`})
	post := func(in string, args ...string) ran {
		u := server.user()
		u.in = strings.NewReader(in)
		return u.run(t, append([]string{"post", "/later"}, args...)...)
	}
	require.Zero(t, post("").code)
	require.Zero(t, post("", `{"a": 1}`, "--idempotency-key", "mine").code)
	require.Zero(t, post("", "@"+fileOf(t, `{"a": 2}`)).code)
	require.JSONEq(t, `{"id": "1"}`, post(`{"a": 3}`, "-").out)
	require.Equal(t, []string{"POST /later  ", `POST /later  {"a":1}`, `POST /later  {"a":2}`, `POST /later  {"a":3}`}, server.sent)
	require.Equal(t, "mine", server.keys[1])
	require.NotEmpty(t, server.keys[0], "a key of its own")

	got := post("", `{"a": 1`)
	require.Equal(t, 2, got.code)
	require.Equal(t, "gifting: Wrong command or profile: BODY is not JSON: line 1, column 7: unexpected end of JSON input\n", got.err)
	require.Equal(t, 2, post("", "").code, "an empty variable")
	require.Equal(t, 2, post("", "@none").code)
	require.Equal(t, 2, post("", "{}", "{}").code)
	require.Len(t, server.sent, 4)
}
