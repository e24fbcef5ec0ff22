package edge_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/apikey"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

func TestAcceptFollowsRFC9110(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for accept, want := range map[string]int{
		"":                                200,
		"APPLICATION/JSON":                200,
		"application/json; charset=utf-8": 200,
		"text/html, image/gif, *; q=.2, */*; q=.2": 200,
		`text/html;a="b,c\"", application/json`:    200,
		"application/json;q=0, application/*":      406,
		"application/json;q=0, application/json":   200,
		"*/*;q=0":                                  406,
		"application/problem+json":                 406,
		"application/json;q=x":                     406,
		"application/json;q=NaN":                   406,
		`"`:                                        406,
	} {
		got := f.Do("GET", "/orders", "", "Accept", accept)
		require.Equal(t, want, got.Status, "Accept: %s", accept)
	}
}

func TestALargeBodyIsSentWithItsLength(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	f.Cursor = strings.Repeat("c", 8<<10)
	length := ""
	for _, method := range []string{"GET", "HEAD"} {
		got := f.Do(method, "/orders", "")
		require.Equal(t, 200, got.Status)
		if method == "GET" {
			length = strconv.Itoa(len(got.Body))
		}
		require.Equal(t, length, got.Header.Get("Content-Length"), method)
	}
}

func TestParametersThatMeanNothingAreNamed(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	for query, want := range map[string]string{
		"":                                 "",
		"?limt=7&limit=7&brand=x":          "brand, limt",
		"?Limit=7":                         "Limit",
		"?a%2C%20b%0D%0Ax=1":               "a%2C+b%0D%0Ax",
		"?" + strings.Repeat("n", 200):     strings.Repeat("n", 64),
		"?k=&j=&i=&h=&g=&f=&e=&d=&c=&b=&a": "a, b, c, d, e, f, g, h, i, j",
	} {
		got := f.Do("GET", "/orders"+query, "")
		require.Equal(t, 200, got.Status, query)
		require.Equal(t, want, got.Header.Get("Ignored-Parameters"), query)
	}
	require.Equal(t, "urgent", f.Do("POST", "/orders?urgent=true", `{"externalOrderId":"o-1"}`).Header.Get("Ignored-Parameters"))
}

func TestMembersThatMeanNothingAreNamed(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	long := strings.Repeat("n", 60)
	var many, most []string
	for i := range 20 {
		many = append(many, fmt.Sprintf(`"%s%02d":1`, long, i))
		most = append(most, fmt.Sprintf(`"%s%02d"`, long, i))
	}
	for body, want := range map[string]string{
		`{"externalOrderId":"o-1"}`:                                       "",
		`{"externalOrderId":"o-1","urgnt":1,"items":[{"productID":"x"}]}`: `"urgnt", "items[0].productID"`,
		`{"externalOrderId":"o-1","a\"b\\c":1,"50 %":1,"é\r\n":1}`:        `"a\"b\\c", "50 %25", "%C3%A9%EF%BF%BD%EF%BF%BD"`,
		`{"externalOrderId":"o-1",` + strings.Join(many, ",") + "}":       strings.Join(most[:15], ", "),
	} {
		got := f.Do("POST", "/orders", body)
		require.Equal(t, 201, got.Status, body)
		require.Equal(t, want, got.Header.Get("Ignored-Members"), body)
	}
	refused := f.Do("POST", "/orders", `{"urgent":"yes","urgnt":1}`)
	require.Equal(t, 400, refused.Status)
	require.Equal(t, `"urgnt"`, refused.Header.Get("Ignored-Members"))
	cancelled := f.Do("POST", "/orders/0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f:cancel", `{"reason":"r","orderId":5}`)
	require.Equal(t, 200, cancelled.Status, cancelled.Body)
	require.Equal(t, `"orderId"`, cancelled.Header.Get("Ignored-Members"))
}

func TestAnEmptyBodyNeedsNoContentType(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	table, err := operation.New(apikey.Sandbox)
	require.NoError(t, err)
	status := func(path string, body io.Reader, contentType string) int {
		return f.For(t).DoReader(http.MethodPost, path, body, "Content-Type", contentType).Status
	}
	const form = "application/x-www-form-urlencoded"
	for _, op := range table.All() {
		if op.Method != http.MethodPost {
			continue
		}
		f.Scopes = []commonv1.Scope{op.Scope}
		f.UseNewCaller() // Together they are more requests than a key has.
		path := strings.NewReplacer("{", "", "}", "").Replace(op.Path)
		for _, contentType := range []string{"", form, "text/plain", ";"} {
			for name, empty := range map[string]io.Reader{"no body": strings.NewReader(""), "no chunk": unsized{strings.NewReader("")}} {
				require.Equal(t, !op.EmptyBody, status(path, empty, contentType) == http.StatusUnsupportedMediaType, "%s %s %s", path,
					contentType, name)
			}
		}
		require.Equal(t, http.StatusUnsupportedMediaType, status(path, strings.NewReader("a=b"), form), path)
		require.Equal(t, http.StatusUnsupportedMediaType, status(path, unsized{strings.NewReader("{}")}, form), path)
		require.NotEqual(t, http.StatusUnsupportedMediaType, status(path, unsized{strings.NewReader("{}")}, "application/json"), path)
	}
	require.Equal(t, http.StatusOK, status("/webhooks:test", strings.NewReader(""), form))
	require.Equal(t, http.StatusOK, status("/webhooks:test", unsized{strings.NewReader("{}")}, "application/json"))
}

func TestPagesThatNeedNoKeyAreLimitedPerAddress(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	read := func() gatewaytest.Answer { return f.Do(http.MethodHead, "/docs/llms.txt", "") }
	for range 1200 {
		require.Equal(t, http.StatusOK, read().Status)
	}
	refused := read()
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusTooManyRequests, f.Do(http.MethodGet, "/docs/nothing", "").Status)
	require.Equal(t, http.StatusOK, f.Do(http.MethodGet, "/me", "").Status, "the API has its own limit")
	gift := f.Request(http.MethodGet, "", http.NoBody)
	gift.URL.Path = "/c/" + gatewaytest.GiftToken
	require.Equal(t, http.StatusOK, f.Send(http.DefaultClient.Do, gift).Status, "so has the gift site")
	f.UseNewCaller()
	require.Equal(t, http.StatusOK, read().Status, "another address")
}
