package edge_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const maxBody = 10 << 20

// orderWith is an order with a member of n bytes.
func orderWith(n int) string {
	return fmt.Sprintf(`{"externalOrderId":"o-1","unknown":{"a":[1,2],"text":"%s"}}`, strings.Repeat("x", n))
}

// orderWithRewritten is the same order in another notation.
func orderWithRewritten(n int) string {
	return fmt.Sprintf("{ \"unknown\" :\t{\"text\":\"\\u0078%s\", \"a\" : [ 1, 2 ] },\n \"external\\u004frderId\" : \"o-1\"\r\n}",
		strings.Repeat("x", n-1))
}

// orderOf is an order of n bytes.
func orderOf(n int) string { return orderWith(n - len(orderWith(0))) }

func TestABodyOfNearly10MBHasOneFingerprintInEveryNotation(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	fingerprint := func(body string) string {
		require.Less(t, len(body), maxBody)
		got := f.Do("POST", "/orders", body, "Idempotency-Key", "k-1")
		require.Equal(t, 201, got.Status, got.Body)
		return string(f.Seen.Fingerprint)
	}
	const nearly = maxBody - 200
	one := fingerprint(orderWith(nearly))
	require.Equal(t, one, fingerprint(orderWithRewritten(nearly)))
	require.NotEqual(t, one, fingerprint(orderWith(nearly-1)))
	require.NotEqual(t, one, fingerprint(strings.Replace(orderWith(nearly), `xx"`, `xy"`, 1)))
	require.NotEqual(t, one, fingerprint(strings.Replace(orderWith(nearly), `[1,2]`, `[2,1]`, 1)))
}

func TestTheLimitOf10MBIsExact(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	require.Equal(t, 201, f.Do("POST", "/orders", orderOf(maxBody)).Status)
	before := f.Calls.Load()
	require.Equal(t, 413, f.Do("POST", "/orders", orderOf(maxBody+1)).Status)
	require.Equal(t, before, f.Calls.Load(), "no service is called")
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
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"externalOrderId":"o-1"}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, coding := range []string{"gzip", "GZIP", "identity, gzip", "br", "deflate", "x"} {
		got := f.DoReader("POST", "/orders", bytes.NewReader(packed.Bytes()), "Content-Encoding", coding)
		require.Equal(t, 415, got.Status, coding)
		require.Contains(t, got.Parsed["detail"], "compressed")
	}
	require.Zero(t, f.Calls.Load())
	require.Equal(t, 201, f.Do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Content-Encoding", "identity").Status)
}

func TestNoBodyCausesAnInternalError(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for name, body := range map[string]string{
		"a doubled member":         `{"externalOrderId":"a","externalOrderId":"b"}`,
		"a doubled unknown member": `{"externalOrderId":"a","x":1,"x":2}`,
		"deep nesting":             strings.Repeat(`{"client":`, 100_000) + `1` + strings.Repeat(`}`, 100_000),
		"deep nesting, unknown":    `{"x":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}`,
		"deep nesting, unclosed":   strings.Repeat(`[`, 1_000_000),
		"a huge number":            `{"items":[{"budget":{"amount":` + strings.Repeat("9", 100_000) + `}}]}`,
		"a huge exponent":          `{"externalOrderId":1e999999999}`,
		"invalid UTF-8":            "{\"externalOrderId\":\"\xc3\x28\"}",
		"a lone surrogate":         `{"externalOrderId":"\ud800"}`,
		"NUL":                      `{"externalOrderId":"a\u0000"}`,
		"a byte order mark":        "\xef\xbb\xbf{}",
		"a comment":                `{/* */}`,
		"a trailing comma":         `{"urgent":true,}`,
		"single quotes":            `{'urgent':true}`,
		"NaN":                      `{"urgent":NaN}`,
		"two values":               `{}{}`,
		"an array":                 `[]`,
		"null":                     `null`,
		"a very long member":       `{"` + strings.Repeat("m", 1<<20) + `":1}`,
		"a thousand wrong items":   `{"items":[` + strings.TrimSuffix(strings.Repeat(`1,`, 10_000), ",") + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			got := f.For(t).Do("POST", "/orders", body)
			require.Equal(t, 400, got.Status, got.Body[:min(len(got.Body), 300)])
			require.Equal(t, "invalid_request", got.Parsed["code"])
			require.NotEmpty(t, got.Parsed["errors"])
			require.Less(t, len(got.Body), 1<<20)
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
			placed := at.Do("POST", "/orders", `{}`, headers...)
			require.Contains(t, []int{400, 415}, placed.Status, "it stays a POST of an order")
		})
	}
	before := f.Calls.Load()
	require.Equal(t, 415, f.Do("POST", "/orders", "limit=1", "Content-Type", form).Status)
	require.Equal(t, before, f.Calls.Load())
	for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
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

func TestHeadAnswersAsGetWithoutBody(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	f.Scopes = append(f.Scopes, commonv1.Scope_SCOPE_CATALOG)
	for _, path := range []string{"/me", "/orders", "/orders?limit=x", "/nothing", "/brands", "/docs/errors", "/openapi.json"} {
		const coding = "Accept-Encoding" // Without it, Go asks for compression in a GET only.
		got, want := f.Do(http.MethodHead, path, "", coding, "identity"), f.Do(http.MethodGet, path, "", coding, "identity")
		require.Equal(t, want.Status, got.Status, path)
		require.Empty(t, got.Body)
		for _, name := range []string{"Content-Type", "Cache-Control", "RateLimit-Policy", "X-Content-Type-Options", "ETag", "Content-Length"} {
			require.Equal(t, want.Header.Get(name), got.Header.Get(name), "%s of %s", name, path)
		}
	}
}
