package assistant_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/assistant"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// api is a stub of the API in an environment.
type api struct {
	environment, tenant string

	lock   sync.Mutex
	placed []string
	// keys are the idempotency keys of what has an effect. lost is how many answers to it get lost.
	keys []string
	lost int
	// limited refuses the second request that has an effect.
	limited bool
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.lock.Lock()
	defer a.lock.Unlock()
	answer := `{"items":[],"nextCursor":null}`
	if strings.Contains(r.URL.Path, "Ann") { // No gift has such an id.
		http.NotFound(w, r)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /me":
		answer = `{"tenant":{"name":"` + cmp.Or(a.tenant, "Fjord") +
			`"},"key":{"scopes":["ORDERS"]},"environment":"` + a.environment + `"}`
	case "GET /brands":
		answer = `[{"id":"b1","name":"Nord"}]`
	case "GET /catalog/categories":
		answer = `[]`
	case "POST /orders", "POST /personal-links:create-batch", "POST /orders/o1/messages":
		a.placed = append(a.placed, string(body))
		a.keys = append(a.keys, r.Header.Get("Idempotency-Key"))
		if a.limited && len(a.keys) == 2 {
			w.Header().Set("Retry-After", "40")
			w.WriteHeader(http.StatusTooManyRequests)
			answer = `{"title":"Too many requests","code":"rate_limited"}`
			break
		}
		if a.lost--; a.lost >= 0 {
			w.Header().Set("Content-Length", "1000") // The answer breaks off.
		}
		answer = `{"id":"o1","status":"PROCESSING","results":[{"outcome":"CREATED","link":{"claimUrl":"https://gifts/c/1"}}]}`
	case "GET /orders/o1":
		answer = `{"reference":"G-1","status":"SENT"}`
	case "GET /orders/o1/messages":
		answer = `[{"body":"It is signed."}]`
	case "GET /campaigns/c1":
		answer = `{"name":"Winter\nurgent: false"}`
	case "GET /orders/none":
		w.Header().Set("Request-Id", "r1")
		w.WriteHeader(http.StatusNotFound)
		answer = `{"title":"Not found","code":"not_found"}`
	case "GET /catalog/products/p1":
		answer = `{"name":"A jersey\nurgent: false","estimate":{"amount":"79.90","currency":"EUR"}}`
	case "GET /catalog/products", "GET /orders", "GET /personal-links":
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
	client, err := gifting.New(server.URL, "key", gifting.WithMaxAttempts(1))
	require.NoError(t, err)
	return connect(t, assistant.Config{
		Client: client, Version: "test", Production: production,
		Diagnose: func(context.Context) any { return []string{"the key is fine"} },
	}, asked)
}

// connect is the session of an assistant of a server.
func connect(t *testing.T, cfg assistant.Config, asked person) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	running, err := assistant.New(cfg).Connect(t.Context(), ours, nil)
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

const order = `{"externalOrderId":"e1","brandId":"b1",
	"items":[{"customProductName":"A ball","budget":{"amount":"10","currency":"SEK"}}],
	"client":{"name":"Ann"},"recipient":{"name":"Ann Berg","phone":"+46701234567",
	"address":{"street":"Storgatan 1","city":"Stockholm","country":"SE"}}}`

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
				require.True(t, strings.HasPrefix(question, "Place this order of \"Fjord\" in PRODUCTION? It will really be sent.\n"), question)
				require.Contains(t, question, "\nitems[0].budget.amount: \"10\"\n")
			}
		})
	}
}

// fill sets every member of a request, and returns how many have a value of their own.
func fill(t *testing.T, v reflect.Value, text string) (count int) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(t, v.Elem(), text)
	case reflect.Struct:
		for i := range v.NumField() {
			count += fill(t, v.Field(i), text)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(t, v.Index(0), text)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(text))
		return 1
	case reflect.String:
		v.SetString(text)
		return 1
	case reflect.Bool:
		v.SetBool(true)
		return 1
	default:
		require.Fail(t, "a member of the kind "+v.Kind().String())
	}
	return count
}

func TestAPersonSeesEveryMemberOfTheOrder(t *testing.T) {
	t.Parallel()
	const evil = "Ann\n\u202eurgent: false\x1b[2J\u0085\u2028"
	a, question := &api{environment: "production", tenant: `Fjord\nurgent: false`}, ""
	session := a.connect(t, true, func(text string) string { question = text; return "decline" })
	var order gifting.PlaceOrderRequest
	count := fill(t, reflect.ValueOf(&order).Elem(), evil)
	require.Greater(t, count, 25)
	ask := func() []string {
		_, failed := call(t, session, "place_order", order)
		require.True(t, failed)
		return strings.Split(question, "\n")
	}
	lines := ask()
	require.Len(t, lines, 2+count, "the tenant, the gift, and a line for each member:\n%s", question)
	require.Equal(t, `Place this order of "Fjord\nurgent: false" in PRODUCTION? It will really be sent.`, lines[0])
	require.Contains(t, lines[1], "gift: its name could not be read: ")
	require.NotContains(t, question, "\nurgent: false")
	for _, r := range question {
		require.True(t, r == '\n' || unicode.IsPrint(r), "%q", r)
	}
	for _, line := range []string{
		`courierComment: "Ann\n\u202eurgent: false\x1b[2J\u0085\u2028"`, `recipient.address.postalCode: "Ann`, `recipient.phone: "Ann`,
		`additionalDetails: "Ann`,
		`"items[0].variations.Ann\n\u202eurgent: false\x1b[2J\u0085\u2028": "Ann`, "urgent: true",
	} {
		require.Contains(t, question, "\n"+line)
	}

	long := strings.Repeat("x", 500)
	order.Items[0].ProductID, order.AdditionalDetails = new("p1"), &long
	lines = ask()
	require.Equal(t, `gift: "A jersey\nurgent: false", estimated at "79.90 EUR"`, lines[1])
	require.Equal(t, `additionalDetails: "`+long+`"`, lines[len(lines)-1], "it moves nothing out of sight")
}

const (
	batch   = `{"campaignId":"c1","recipients":[{"label":"Ann"},{"label":"Bo\nurgent: false"}]}`
	message = `{"id":"o1","body":"Please sign it."}`
)

func TestInProductionAPersonConfirmsLinksAndMessages(t *testing.T) {
	t.Parallel()
	for tool, tc := range map[string]struct{ input, sent, question string }{
		"create_links": {
			batch, batch, `Create 2 personal links of "Fjord" in PRODUCTION? Each leads to a gift that will really be sent.
campaign: "Winter\nurgent: false"
campaignId: "c1"
recipients[0].label: "Ann"
recipients[1].label: "Bo\nurgent: false"`,
		},
		"post_order_message": {
			message, `{"body":"Please sign it."}`,
			`Post this message on an order of "Fjord" in PRODUCTION? The service operator will read it.
order: "G-1", "SENT"
id: "o1"
body: "Please sign it."`,
		},
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			a, question, answer := &api{environment: "production"}, "", "decline"
			session := a.connect(t, true, func(text string) string { question = text; return answer })
			text, failed := call(t, session, tool, json.RawMessage(tc.input))
			require.True(t, failed)
			require.Contains(t, text, "did not confirm")
			require.Equal(t, tc.question, question)
			require.Empty(t, a.placed)
			answer = "accept"
			text, failed = call(t, session, tool, json.RawMessage(tc.input))
			require.False(t, failed, text)
			require.Len(t, a.placed, 1)
			require.JSONEq(t, tc.sent, a.placed[0])

			text, failed = call(t, a.connect(t, false, func(string) string { return "accept" }), tool, json.RawMessage(tc.input))
			require.True(t, failed)
			require.Contains(t, text, "--allow-production")
			require.Len(t, a.placed, 1)
		})
	}
}

func TestARequestWhoseAnswerWasLostIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	for tool, input := range map[string]string{"create_links": batch, "post_order_message": message, "place_order": order} {
		a := &api{environment: "sandbox", lost: 1}
		session := a.connect(t, false, nil)
		_, failed := call(t, session, tool, json.RawMessage(input))
		require.True(t, failed)
		for range 2 {
			_, failed = call(t, session, tool, json.RawMessage(input))
			require.False(t, failed)
		}
		require.Len(t, a.keys, 3)
		require.Equal(t, a.keys[0], a.keys[1], "the API repeats its answer")
		require.NotEqual(t, a.keys[1], a.keys[2], "the assistant wants another one")

		a = &api{environment: "sandbox", lost: 1, limited: true}
		session = a.connect(t, false, nil)
		for _, fails := range []bool{true, true, false} {
			_, failed = call(t, session, tool, json.RawMessage(input))
			require.Equal(t, fails, failed)
		}
		require.Equal(t, []string{a.keys[0], a.keys[0], a.keys[0]}, a.keys, "the first attempt may have taken effect")
	}
}

func TestAfterARestartTheAssistantIsToldToLookFirst(t *testing.T) {
	t.Parallel()
	look := map[string]string{"create_links": "list_links", "post_order_message": "list_order_messages"}
	for tool, input := range map[string]string{"create_links": batch, "post_order_message": message} {
		a := &api{environment: "sandbox", lost: 1}
		session := a.connect(t, false, nil)
		_, failed := call(t, session, tool, json.RawMessage(input))
		require.True(t, failed)
		restarted := a.connect(t, false, nil)
		_, failed = call(t, restarted, tool, json.RawMessage(input))
		require.False(t, failed)
		require.NotEqual(t, a.keys[0], a.keys[1], "the key of the lost request is forgotten")

		tools, err := restarted.ListTools(t.Context(), nil)
		require.NoError(t, err)
		at := slices.IndexFunc(tools.Tools, func(one *mcp.Tool) bool { return one.Name == tool })
		require.Contains(t, tools.Tools[at].Description, "If the answer was lost, look first with "+look[tool])
	}
}

func TestAPersonCanReadEveryRecipientAndGift(t *testing.T) {
	t.Parallel()
	a := &api{environment: "sandbox"}
	recipients := strings.Repeat(`{"label":"Ann"},`, 20) + `{"label":"Bo"}`
	gifts := `"p"` + strings.Repeat(`,"p"`, 20)
	for _, input := range []string{`{"recipients":[` + recipients + `]}`, `{"recipients":[],"productIds":[` + gifts + `]}`} {
		text, failed := call(t, a.connect(t, false, nil), "create_links", json.RawMessage(input))
		require.True(t, failed)
		require.Contains(t, text, "at most 20 recipients and 20 gifts")
	}
	require.Empty(t, a.placed)
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
		require.Contains(t, result.Content[0].(*mcp.TextContent).Text, "not what the person was asked about")
	}
	require.Empty(t, a.placed)
}

func TestTheToolsReadTheAPI(t *testing.T) {
	t.Parallel()
	session := (&api{environment: "sandbox"}).connect(t, false, nil)
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	arguments := map[string]any{
		"list_orders":   map[string]any{"externalRecipientId": "player-42"},
		"list_links":    map[string]any{"externalRecipientId": "player-42"},
		"list_products": map[string]any{"country": "SE"}, "get_product": map[string]any{"country": "SE", "id": "p"},
		"get_order": map[string]any{"id": "none"}, "validate_order": json.RawMessage(order),
		"get_link": map[string]any{"id": "l1"}, "get_campaign": map[string]any{"id": "c1"},
		"list_order_messages": map[string]any{"id": "o1"}, "search_documentation": map[string]any{"query": "signature"},
	}
	says := map[string]string{
		"account": `"Nord"`, "get_order": "Not found (not_found 404); request r1", "list_products": "country=SE\\u0026limit=20",
		"diagnose": "the key is fine", "get_campaign": "Winter", "list_order_messages": "It is signed.",
		"list_orders": "externalRecipientId=player-42", "list_links": "externalRecipientId=player-42",
	}
	changing := []string{"place_order", "create_links", "post_order_message"}
	for _, tool := range tools.Tools {
		if slices.Contains(changing, tool.Name) {
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
