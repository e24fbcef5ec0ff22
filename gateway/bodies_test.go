package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const maxBody = 10 << 20

// long is an order with a member of so many bytes.
func long(n int) string {
	return fmt.Sprintf(`{"externalOrderId":"o-1","unknown":{"a":[1,2],"text":"%s"}}`, strings.Repeat("x", n))
}

// longOtherwise is the same order, written otherwise.
func longOtherwise(n int) string {
	return fmt.Sprintf("{ \"unknown\" :\t{\"text\":\"\\u0078%s\", \"a\" : [ 1, 2 ] },\n \"external\\u004frderId\" : \"o-1\"\r\n}",
		strings.Repeat("x", n-1))
}

// large is an order of so many bytes.
func large(n int) string { return long(n - len(long(0))) }

func TestABodyOfNearly10MBIsOneRequestHoweverItIsWritten(t *testing.T) {
	f := setup(t)
	fingerprint := func(body string) string {
		require.Less(t, len(body), maxBody)
		got := f.do("POST", "/orders", body, "Idempotency-Key", "k-1")
		require.Equal(t, 201, got.status, got.body)
		return string(f.seen.Fingerprint)
	}
	const nearly = maxBody - 200
	one := fingerprint(long(nearly))
	require.Equal(t, one, fingerprint(longOtherwise(nearly)))
	require.NotEqual(t, one, fingerprint(long(nearly-1)))
	require.NotEqual(t, one, fingerprint(strings.Replace(long(nearly), `xx"`, `xy"`, 1)))
	require.NotEqual(t, one, fingerprint(strings.Replace(long(nearly), `[1,2]`, `[2,1]`, 1)))
}

func TestThe10MBAreExact(t *testing.T) {
	f := setup(t)
	require.Equal(t, 201, f.do("POST", "/orders", large(maxBody)).status)
	before := f.ran.Load()
	require.Equal(t, 413, f.do("POST", "/orders", large(maxBody+1)).status)
	require.Equal(t, before, f.ran.Load(), "nothing runs")
}

// unsized hides a body's length, so that it is sent in chunks.
type unsized struct{ io.Reader }

func TestABodyInChunksIsBoundedToo(t *testing.T) {
	f := setup(t)
	require.Equal(t, 201, f.doReader("POST", "/orders", unsized{strings.NewReader(large(maxBody))}).status)
	before := f.ran.Load()
	got := f.doReader("POST", "/orders", unsized{strings.NewReader(large(maxBody + 1))})
	require.Equal(t, 413, got.status, got.body)
	require.Equal(t, "payload_too_large", got.parsed["code"])
	require.Equal(t, before, f.ran.Load(), "nothing runs")
	require.Equal(t, 200, f.doReader("POST", "/webhooks:test", unsized{strings.NewReader(`{}`)}).status)
}

func TestACompressedBodyIsRefusedUnread(t *testing.T) {
	f := setup(t)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(`{"externalOrderId":"o-1"}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for _, coding := range []string{"gzip", "GZIP", "identity, gzip", "br", "deflate", "x"} {
		got := f.doReader("POST", "/orders", bytes.NewReader(packed.Bytes()), "Content-Encoding", coding)
		require.Equal(t, 415, got.status, coding)
		require.Contains(t, got.parsed["detail"], "compressed")
	}
	require.Zero(t, f.ran.Load())
	require.Equal(t, 201, f.do("POST", "/orders", `{"externalOrderId":"o-1"}`, "Content-Encoding", "identity").status)
}

func TestNoBodyIsAnsweredByAFaultOfOurs(t *testing.T) {
	f := setup(t)
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
			at := *f
			at.t = t
			got := at.do("POST", "/orders", body)
			require.Equal(t, 400, got.status, got.body[:min(len(got.body), 300)])
			require.Equal(t, "invalid_request", got.parsed["code"])
			require.NotEmpty(t, got.parsed["errors"])
			require.Less(t, len(got.body), 1<<20)
		})
	}
}

// What grpc-gateway does by itself is off: forms as queries, other methods by header, and POST as a
// GET of a long query.
func TestNothingButTheMethodOfTheRequestLineCounts(t *testing.T) {
	f := setup(t)
	const form = "application/x-www-form-urlencoded"
	for name, headers := range map[string][]string{
		"a form":                      {"Content-Type", form},
		"a form with a GET by header": {"Content-Type", form, "X-HTTP-Method-Override", "GET"},
		"JSON with a GET by header":   {"X-HTTP-Method-Override", "GET", "X-Method-Override", "GET", "X-HTTP-Method", "GET"},
	} {
		t.Run(name, func(t *testing.T) {
			at := *f
			at.t = t
			require.Equal(t, 405, at.do("POST", "/me", "limit=1", headers...).status)
			placed := at.do("POST", "/orders", `{}`, headers...)
			require.Contains(t, []int{400, 415}, placed.status, "it stays a POST of an order")
		})
	}
	before := f.ran.Load()
	require.Equal(t, 415, f.do("POST", "/orders", "limit=1", "Content-Type", form).status)
	require.Equal(t, before, f.ran.Load())
	for _, method := range []string{"PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
		got := f.do(method, "/orders", "", "X-HTTP-Method-Override", "GET")
		require.Equal(t, 405, got.status, method)
		require.Equal(t, "GET, HEAD, POST", got.header.Get("Allow"))
	}
}

func TestAPOSTTakesNothingFromItsQuery(t *testing.T) {
	f := setup(t)
	got := f.do("POST", "/orders?externalOrderId=o-1&urgent=true", `{}`)
	require.Equal(t, 400, got.status)
	require.Equal(t, []any{fieldError("externalOrderId", "required", "is required")}, got.parsed["errors"])
}

func TestAGETTakesNothingFromItsBody(t *testing.T) {
	f := setup(t)
	require.Equal(t, 200, f.do("GET", "/orders", `limit=x`, "Content-Type", "application/x-www-form-urlencoded").status)
	require.Equal(t, 200, f.do("GET", "/orders", `{"limit":"x"}`, "Content-Type", "application/json").status)
}

func TestHeadAnswersAsGetWithoutBody(t *testing.T) {
	f := setup(t)
	f.scopes = append(f.scopes, commonv1.Scope_SCOPE_CATALOG)
	for _, path := range []string{"/me", "/orders", "/orders?limit=x", "/nothing", "/brands", "/docs/errors", "/openapi.json"} {
		got, want := f.do(http.MethodHead, path, ""), f.do(http.MethodGet, path, "")
		require.Equal(t, want.status, got.status, path)
		require.Empty(t, got.body)
		for _, name := range []string{"Content-Type", "Cache-Control", "RateLimit-Policy", "X-Content-Type-Options", "ETag", "Content-Length"} {
			require.Equal(t, want.header.Get(name), got.header.Get(name), "%s of %s", name, path)
		}
	}
}
