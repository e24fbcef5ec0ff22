package gifting_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// deploy/tests/e2e compares what each call takes with the document.
func TestAnOptionThatMeansNothingToACallIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, `{"items":[]}`)}}
	client := newClient(t, transport)
	key, match, none := gifting.WithIdempotencyKey("k"), gifting.WithIfMatch(`"a"`), gifting.WithIfNoneMatch(`"a"`)
	_, err := client.PersonalLinks.Cancel(t.Context(), "1", gifting.CancelPersonalLinkRequest{}, match)
	require.EqualError(t, err, "POST /personal-links/1:cancel: WithIfMatch does not apply to this call")
	_, err = client.Orders.List(t.Context(), gifting.ListOrdersQuery{}, match).First()
	require.EqualError(t, err, "GET /orders: WithIfMatch does not apply to this call")
	_, err = client.Orders.List(t.Context(), gifting.ListOrdersQuery{}, none).First()
	require.EqualError(t, err, "GET /orders: WithIfNoneMatch does not apply to this call")
	for _, option := range []gifting.CallOption{key, match, none} {
		_, err = client.Orders.Validate(t.Context(), gifting.PlaceOrderRequest{}, option)
		require.ErrorContains(t, err, "POST /orders:validate: With")
	}
	_, err = client.Account.Me(t.Context(), key)
	require.EqualError(t, err, "GET /me: WithIdempotencyKey does not apply to this call")
	_, err = client.Orders.Place(t.Context(), gifting.PlaceOrderRequest{}, none)
	require.EqualError(t, err, "POST /orders: WithIfNoneMatch does not apply to this call")
	require.Empty(t, transport.attempts)

	_, err = client.Orders.Cancel(t.Context(), "1", gifting.CancelOrderRequest{}, key, match)
	require.NoError(t, err)
	require.Equal(t, []string{"k", `"a"`}, []string{transport.attempts[0].key, transport.attempts[0].header.Get("If-Match")})
	_, err = client.Orders.Validate(t.Context(), gifting.PlaceOrderRequest{})
	require.NoError(t, err)
	require.Empty(t, transport.attempts[1].key)
	require.NoError(t, client.Call(t.Context(), http.MethodGet, "/new", nil, nil, key, match, none), "it may take them")
}

func TestOnlyTheFirstAnswerIsForced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &stub{script: script{refused(503, "service_unavailable"), answered(200, "{}")}}
		_, err := newClient(t, transport).Orders.Get(t.Context(), "1", gifting.WithSandboxFault("503"))
		require.NoError(t, err)
		require.Equal(t, "503", transport.attempts[0].header.Get("Sandbox-Fault"))
		require.NotContains(t, transport.attempts[1].header, "Sandbox-Fault")
	})
}

func TestTheClientSetsItsOwnHeaders(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{answered(200, "{}")}}
	var options []gifting.CallOption
	for _, name := range []string{"Accept", "Authorization", "Content-Type", "User-Agent", "X-Trace"} {
		options = append(options, gifting.WithHeader(name, "mine"))
	}
	_, err := newClient(t, transport).Orders.Place(t.Context(), gifting.PlaceOrderRequest{}, options...)
	require.NoError(t, err)
	for name, values := range transport.attempts[0].header {
		require.Equal(t, name == "X-Trace", values[0] == "mine", name)
	}
	require.Equal(t, "mine", transport.attempts[0].header.Get("X-Trace"))
}

func TestWhatTheAPIIgnoredIsOneWarning(t *testing.T) {
	t.Parallel()
	transport := &stub{script: script{
		answered(200, "{}", "Ignored-Members", `"items[0].colour", "a\"b\\c", "x%20y"`, "Ignored-Parameters", "limt, statsu"),
		answered(200, "{}", "Ignored-Members", `"items[1].colour"`, "Ignored-Parameters", "limt"),
		answered(400, `{"code":"invalid_request"}`, "Ignored-Members", `"phone"`),
	}}
	var warnings []string
	client := newClient(t, transport, gifting.WithWarnings(func(message string) { warnings = append(warnings, message) }))
	for _, id := range []string{"1", "2", "3"} {
		_, _ = client.Orders.Cancel(t.Context(), id, gifting.CancelOrderRequest{})
	}
	var want []string
	for _, name := range []string{
		"member items[0].colour", `member a"b\c`, "member x%20y", "parameter limt", "parameter statsu",
		"member phone",
	} {
		want = append(want, "POST /orders/{orderId}:cancel: the API ignored the "+name+", perhaps because it is misspelt")
	}
	require.Equal(t, want, warnings)
	require.Error(t, client.Call(t.Context(), http.MethodPost, "/new?a=1", nil, nil), "another operation")
	require.Equal(t, "POST /new: the API ignored the member phone, perhaps because it is misspelt", warnings[len(warnings)-1])
}

func TestWarningsAreBounded(t *testing.T) {
	t.Parallel()
	names := make([]string, 2000)
	for i := range names {
		names[i] = fmt.Sprintf(`"m%d"`, i)
	}
	transport := &stub{script: script{answered(200, "{}", "Ignored-Members", strings.Join(names, ","))}}
	count := 0
	_, err := newClient(t, transport,
		gifting.WithWarnings(func(string) { count++ })).Orders.Place(t.Context(), gifting.PlaceOrderRequest{})
	require.NoError(t, err)
	require.Equal(t, 1000, count)
	_, err = newClient(t, transport, gifting.WithWarnings(nil)).Orders.Place(t.Context(), gifting.PlaceOrderRequest{})
	require.NoError(t, err)
}

func TestWarningsAreLogged(t *testing.T) { //nolint:paralleltest // It sets the logger of the process.
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(before)
	_, err := newClient(t, &stub{script: script{answered(200, "{}", "Ignored-Parameters", "limt")}}).Account.Me(t.Context())
	require.NoError(t, err)
	require.Contains(t, logged.String(), "level=WARN msg=\"GET /me: the API ignored the parameter limt")
}
