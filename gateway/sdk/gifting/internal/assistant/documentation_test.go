package assistant_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/assistant"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var pages = map[string]string{
	"/docs/llms.txt": "# Partner Gifting API\n\n- [Webhooks](https://elsewhere.example.com/docs/webhooks.md): pushed\n" +
		"- [Events](https://elsewhere.example.com/docs/events.md): read\n" +
		"- [OpenAPI document](https://elsewhere.example.com/openapi.yaml)\n",
	"/docs/webhooks.md": "# Webhooks\n\nWe send each change.\n\n## Signature\n\nVerify the raw body.\n\n" +
		"```sh\n# a comment\ncurl\n```\n\n## Retries\n\nWe send a change again.\n",
	"/docs/events.md": "# Events\n\nThe feed has each change. It needs no signature.\n\n" +
		"## Long\n\n" + strings.Repeat("wörter ", 1000),
}

func TestTheDocumentationIsSearched(t *testing.T) {
	t.Parallel()
	read := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read[r.URL.Path]++
		_, _ = io.WriteString(w, pages[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key")
	require.NoError(t, err)
	session := connect(t, assistant.Config{Client: client}, nil)
	search := func(query string) (titles []string, texts string) {
		text, failed := call(t, session, "search_documentation", map[string]any{"query": query})
		require.False(t, failed, text)
		var found struct {
			Sections []struct{ Page, Title, URL, Text string }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &found))
		for _, s := range found.Sections {
			titles, texts = append(titles, s.Page+": "+s.Title+" "+strings.TrimPrefix(s.URL, server.URL)), texts+s.Text
		}
		return titles, texts
	}
	titles, texts := search("how do I verify the SIGNATURE of a body")
	require.Equal(t, "Webhooks: Signature /docs/webhooks", titles[0])
	require.Contains(t, texts, "# a comment\ncurl", "a comment of a shell is no heading")
	titles, _ = search("again")
	require.Equal(t, []string{"Webhooks: Retries /docs/webhooks"}, titles)
	titles, texts = search("wörter")
	require.Len(t, titles, 1)
	require.Less(t, len(texts), 4100, "an assistant reads all of it")
	titles, _ = search("nowhere")
	require.Empty(t, titles)
	require.Equal(t, map[string]int{"/docs/llms.txt": 1, "/docs/webhooks.md": 1, "/docs/events.md": 1}, read)
}

func TestALineThatIsNoMessageIsAnsweredAndTheServerGoesOn(t *testing.T) {
	t.Parallel()
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	client, err := gifting.New("http://localhost", "key")
	require.NoError(t, err)
	ended := make(chan error, 1)
	server := assistant.New(assistant.Config{Client: client})
	go func() { ended <- server.Run(t.Context(), assistant.Transport(in, out)) }()
	decoder := json.NewDecoder(answers)
	const notJSON = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is no message of JSON-RPC"}}`
	for _, tc := range []struct{ line, answer string }{
		{"hello", notJSON},
		{`{"jsonrpc":"2.0",`, notJSON},
		{"\n \r\n\xff", notJSON},
		{`{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no message of JSON-RPC"}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `{"jsonrpc":"2.0","id":1,"result":{}}`},
	} {
		_, err := io.WriteString(lines, tc.line+"\n")
		require.NoError(t, err)
		var answer json.RawMessage
		require.NoError(t, decoder.Decode(&answer))
		require.JSONEq(t, tc.answer, string(answer))
	}
	require.NoError(t, lines.Close())
	require.NoError(t, <-ended)
}
