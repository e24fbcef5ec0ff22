package assistant_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/assistant"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// api is a stub of the API in an environment.
type api struct {
	environment string

	lock   sync.Mutex
	placed []string
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.lock.Lock()
	defer a.lock.Unlock()
	answer := `{"items":[],"nextCursor":null}`
	switch r.Method + " " + r.URL.Path {
	case "GET /me":
		answer = `{"tenant":{"name":"Fjord"},"key":{"scopes":["ORDERS"]},"environment":"` + a.environment + `"}`
	case "GET /brands":
		answer = `[{"id":"b1","name":"Nord"}]`
	case "GET /catalog/categories":
		answer = `[]`
	case "POST /orders":
		a.placed = append(a.placed, string(body))
		answer = `{"id":"o1","status":"PROCESSING"}`
	case "GET /orders/none":
		w.Header().Set("Request-Id", "r1")
		w.WriteHeader(http.StatusNotFound)
		answer = `{"title":"Not found","code":"not_found"}`
	case "GET /catalog/products":
		answer = `{"items":[],"nextCursor":"` + r.URL.RawQuery + `"}`
	}
	_, _ = io.WriteString(w, answer) //nolint:gosec // The test is the only caller.
}

// person answers a question about an order; nil: nobody can be asked.
type person func(question string) string

// connect is the session of an assistant.
func (a *api) connect(t *testing.T, production bool, asked person) *mcp.ClientSession {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	client, err := gifting.New(server.URL, "key")
	require.NoError(t, err)
	serves := assistant.New(assistant.Config{
		Client: client, Version: "test", Production: production,
		Diagnose: func(context.Context) any { return []string{"the key is fine"} },
	})
	ours, theirs := mcp.NewInMemoryTransports()
	running, err := serves.Connect(t.Context(), ours, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = running.Close() })
	options := &mcp.ClientOptions{}
	if asked != nil {
		options.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: asked(req.Params.Message)}, nil
		}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, options).Connect(t.Context(), theirs, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call returns the text of a tool's answer.
func call(t *testing.T, session *mcp.ClientSession, name string, arguments any) (text string, failed bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(t, err)
	require.NotEmpty(t, result.Content)
	return result.Content[0].(*mcp.TextContent).Text, result.IsError
}

const order = `{"externalOrderId":"e1","brandId":"b1","items":[{"customProductName":"A ball","budget":{"amount":"10","currency":"SEK"}}],
	"client":{"name":"Ann"},"recipient":{"name":"Ann Berg","phone":"+46701234567","address":{"street":"Storgatan 1","city":"Stockholm","country":"SE"}}}`

func TestAnOrderIsPlacedInTheSandbox(t *testing.T) {
	t.Parallel()
	a := &api{environment: "sandbox"}
	text, failed := call(t, a.connect(t, false, nil), "place_order", json.RawMessage(order))
	require.False(t, failed, text)
	require.Contains(t, text, "PROCESSING")
	require.Len(t, a.placed, 1)
	require.JSONEq(t, order, a.placed[0])
}

func TestInProductionAPersonConfirmsEachOrder(t *testing.T) {
	t.Parallel()
	accept := func(string) string { return "accept" }
	for name, tc := range map[string]struct {
		allowed bool
		asked   person
		placed  int
		says    string
	}{
		"not allowed":           {false, accept, 0, "--allow-production"},
		"the person confirms":   {true, accept, 1, "PROCESSING"},
		"the person declines":   {true, func(string) string { return "decline" }, 0, "did not confirm"},
		"the person looks away": {true, func(string) string { return "cancel" }, 0, "did not confirm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, question := &api{environment: "production"}, ""
			session := a.connect(t, tc.allowed, func(text string) string { question = text; return tc.asked(text) })
			text, failed := call(t, session, "place_order", json.RawMessage(order))
			require.Equal(t, tc.placed == 0, failed)
			require.Contains(t, text, tc.says)
			require.Len(t, a.placed, tc.placed)
			if tc.allowed {
				require.Equal(t, `Place order "e1" of Fjord in PRODUCTION: "A ball" for 10 SEK to "Ann Berg", "Storgatan 1", "Stockholm", SE. It will really be sent.`, question)
			}
		})
	}
}

func TestWithoutAPersonNothingIsPlacedInProduction(t *testing.T) {
	t.Parallel()
	a := &api{environment: "production"}
	session := a.connect(t, true, nil)
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "place_order", Arguments: json.RawMessage(order)})
	require.Error(t, err)
	require.Empty(t, a.placed)
}

func TestAConfirmationIsOfOneOrder(t *testing.T) {
	t.Parallel()
	a := &api{environment: "production"}
	session := a.connect(t, true, func(string) string { return "accept" })
	for _, proof := range []string{"", "invented"} {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "place_order", Arguments: json.RawMessage(strings.Replace(order, "Ann Berg", "Eve", 1)), RequestState: proof,
			InputResponses: mcp.InputResponseMap{"confirm": &mcp.ElicitResult{Action: "accept"}},
		})
		require.NoError(t, err)
		require.True(t, result.IsError)
		require.Contains(t, result.Content[0].(*mcp.TextContent).Text, "not the order that the person was asked about")
	}
	require.Empty(t, a.placed)
}

func TestTheToolsReadTheAPI(t *testing.T) {
	t.Parallel()
	session := (&api{environment: "sandbox"}).connect(t, false, nil)
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	arguments := map[string]any{
		"list_products": map[string]any{"country": "SE"}, "get_product": map[string]any{"country": "SE", "id": "p"},
		"get_order": map[string]any{"id": "none"}, "validate_order": json.RawMessage(order),
	}
	says := map[string]string{
		"account": `"Nord"`, "get_order": "Not found (not_found 404); request r1", "list_products": "country=SE\\u0026limit=20",
		"diagnose": "the key is fine",
	}
	for _, tool := range tools.Tools {
		if tool.Name == "place_order" {
			require.False(t, tool.Annotations.ReadOnlyHint)
			continue
		}
		require.Equal(t, tool.Name != "diagnose", tool.Annotations.ReadOnlyHint, tool.Name)
		input := arguments[tool.Name]
		if input == nil {
			input = map[string]any{}
		}
		text, failed := call(t, session, tool.Name, input)
		require.Equal(t, tool.Name == "get_order", failed, tool.Name+text)
		require.Contains(t, text, says[tool.Name], tool.Name)
	}
	_, failed := call(t, session, "list_products", map[string]any{"limit": 5})
	require.True(t, failed, "a country is missing")
}
