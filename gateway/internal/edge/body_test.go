package edge_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

const maxBody = 10 << 20

// orderOf is an order of n bytes.
func orderOf(n int) string {
	const begin, end = `{"externalOrderId":"o-1","unknown":"`, `"}`
	return begin + strings.Repeat("x", n-len(begin)-len(end)) + end
}

// unsized hides a body's length, so that it is sent in chunks.
type unsized struct{ io.Reader }

func TestABodyInChunksIsLimitedToo(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 201, f.DoReader("POST", "/orders", unsized{strings.NewReader(orderOf(maxBody))}).Status)
	before := f.Calls.Load()
	got := f.DoReader("POST", "/orders", unsized{strings.NewReader(orderOf(maxBody + 1))})
	require.Equal(t, 413, got.Status, got.Body)
	require.Equal(t, "payload_too_large", got.Parsed["code"])
	require.Equal(t, before, f.Calls.Load(), "no service is called")
	require.Equal(t, 200, f.DoReader("POST", "/webhooks:test", unsized{strings.NewReader(`{}`)}).Status)
}

func TestACompressedBodyIsRefused(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for _, coding := range []string{"GZIP", "identity, gzip", "x"} {
		got := f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Content-Encoding", coding)
		require.Equal(t, 415, got.Status, coding)
		require.Contains(t, got.Parsed["detail"], "compressed")
	}
	require.Zero(t, f.Calls.Load())
	require.Equal(t, 201, f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Content-Encoding", "identity").Status)
}

func TestAKeyThatIsRevokedWhileItsBodyArrivesIsRefused(t *testing.T) {
	t.Parallel()
	for path, parts := range map[string][2]string{
		"/orders":                   {`{"externalOrderId":`, `"o-1"}`},
		"/sandbox/orders/x:approve": {"", "{}"}, // It may have no body, so the first byte is waited for earlier.
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			f := gatewaytest.New(t)
			from, to := io.Pipe()
			answered := make(chan gatewaytest.Answer)
			go func() { answered <- f.For(t).DoReader("POST", path, from, "Expect", "100-continue") }()
			_, err := io.WriteString(to, parts[0]) // This is read once the gateway wants the body.
			require.NoError(t, err)
			f.Revoke(t, f.Key)
			<-time.After(time.Second) // A body that arrives sooner is not checked again.
			_, err = io.WriteString(to, parts[1])
			require.NoError(t, err)
			require.NoError(t, to.Close())
			got := <-answered
			require.Equal(t, http.StatusUnauthorized, got.Status, got.Body)
			require.Equal(t, "invalid_api_key", got.Parsed["code"])
			require.Zero(t, f.Calls.Load(), "no service is called")
		})
	}
}

// These features of grpc-gateway are off: forms as queries, methods in headers, and POST as a GET with a long query.
func TestOnlyTheMethodOfTheRequestLineCounts(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	const form = "application/x-www-form-urlencoded"
	for name, headers := range map[string][]string{
		"a form":                      {"Content-Type", form},
		"a form with a GET by header": {"Content-Type", form, "X-HTTP-Method-Override", "GET"},
		"JSON with a GET by header":   {"X-HTTP-Method-Override", "GET", "X-Method-Override", "GET", "X-HTTP-Method", "GET"},
	} {
		t.Run(name, func(t *testing.T) {
			at := f.For(t)
			require.Equal(t, 405, at.Do("POST", "/me", "limit=1", headers...).Status)
			require.Contains(t, []int{400, 415}, at.Do("POST", "/orders", `{}`, headers...).Status, "it stays a POST of an order")
		})
	}
	before := f.Calls.Load()
	require.Equal(t, 415, f.Do("POST", "/orders", "limit=1", "Content-Type", form).Status)
	require.Equal(t, before, f.Calls.Load())
	for _, method := range []string{"PUT", "OPTIONS", "BREW"} {
		got := f.Do(method, "/orders", "", "X-HTTP-Method-Override", "GET")
		require.Equal(t, 405, got.Status, method)
		require.Equal(t, "GET, HEAD, POST", got.Header.Get("Allow"))
	}
}

func TestAPOSTTakesNothingFromItsQuery(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	got := f.Do("POST", "/orders?externalOrderId=o-1&urgent=true", `{}`)
	require.Equal(t, 400, got.Status)
	require.Equal(t, []any{fieldError("externalOrderId", "required", "is required")}, got.Parsed["errors"])
}

func TestAGETTakesNothingFromItsBody(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 200, f.Do("GET", "/orders", `limit=x`, "Content-Type", "application/x-www-form-urlencoded").Status)
	require.Equal(t, 200, f.Do("GET", "/orders", `{"limit":"x"}`, "Content-Type", "application/json").Status)
}
