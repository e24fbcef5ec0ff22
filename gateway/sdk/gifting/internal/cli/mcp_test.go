package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/cli"
)

// assistantOf is the session of an assistant that has started `gifting mcp`. leave ends it and returns the exit code.
func assistantOf(t *testing.T, u *user, args ...string) (session *mcp.ClientSession, leave func() int) {
	t.Helper()
	fromAssistant, toServer := io.Pipe()
	fromServer, toAssistant := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(t.Context(), append([]string{"mcp"}, args...), cli.Streams{
			In: fromAssistant, Out: toAssistant, Err: io.Discard, Getenv: func(name string) string { return u.env[name] },
		})
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	return session, func() int {
		require.NoError(t, errors.Join(session.Close(), toServer.Close()))
		return <-ended
	}
}

func TestAnAssistantUsesTheAPI(t *testing.T) {
	t.Parallel()
	server := newAPI(t,
		map[string]string{"POST /orders": `{"id":"1","status":"REQUESTED"}`, "GET /webhooks/health": `{"state":"HEALTHY"}`})
	session, leave := assistantOf(t, server.user())
	call := func(name, arguments string) string {
		result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		require.NoError(t, err)
		return result.Content[0].(*mcp.TextContent).Text
	}
	require.Contains(t, call("diagnose", `{}`), "CRM (gft_sbx_abc")
	require.Contains(t, call("webhook_health", `{}`), "HEALTHY")
	placed := call("place_order", `{"externalOrderId":"e","items":[],"client":{"name":"A"},
		"recipient":{"name":"A","phone":"1","address":{"street":"s","city":"c","country":"SE"}}}`)
	require.Contains(t, placed, "REQUESTED")
	require.Contains(t, strings.Join(server.sent, "\n"), `POST /orders  {"client":{"name":"A"},"externalOrderId":"e"`)
	require.Zero(t, leave())
}
