package idempotent_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestTheHeaderIsReadBareOrQuoted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header []string
		want   string
		code   problem.Code
	}{
		"bare":                   {[]string{"abc-1"}, "abc-1", ""},
		"quoted":                 {[]string{`"abc-1"`}, "abc-1", ""},
		"quoted with escapes":    {[]string{`"a\"b\\c"`}, `a"b\c`, ""},
		"255 characters":         {[]string{strings.Repeat("å", 255)}, strings.Repeat("å", 255), ""},
		"256 characters":         {[]string{strings.Repeat("a", 256)}, "", problem.IdempotencyKeyInvalid},
		"missing":                {nil, "", problem.IdempotencyKeyRequired},
		"blank":                  {[]string{"  \t"}, "", problem.IdempotencyKeyRequired},
		"an empty quoted string": {[]string{`""`}, "", problem.IdempotencyKeyRequired},
		"a quote left open":      {[]string{`"abc`}, "", problem.IdempotencyKeyInvalid},
		"a stray escape":         {[]string{`"a\b"`}, "", problem.IdempotencyKeyInvalid},
		"a lone quote":           {[]string{`"`}, "", problem.IdempotencyKeyInvalid},
		"invalid UTF-8":          {[]string{"a\xff"}, "", problem.IdempotencyKeyInvalid},
		"twice":                  {[]string{"a", "b"}, "", problem.IdempotencyKeyInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := idempotent.Key(http.Header{"Idempotency-Key": tc.header})
			if tc.code != "" {
				require.True(t, problem.Is(err, tc.code), "%v", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestFingerprints(t *testing.T) {
	t.Parallel()
	f := idempotent.Fingerprinter{Key: []byte("k")}
	of := func(path, query, body string) []byte {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		return f.Of(http.MethodPost, path, q, []byte(body))
	}
	base := of("/orders", "", `{"a":1,"b":{"c":"x","d":[1,2]}}`)
	t.Run("member order, white space and escapes do not matter", func(t *testing.T) {
		require.Equal(t, base, of("/orders", "", " {\"b\": {\"d\":[1, 2],\"c\":\"\\u0078\"},\n\"a\":1 } "))
	})
	t.Run("no body is an empty object", func(t *testing.T) {
		require.Equal(t, of("/webhooks:test", "", ""), of("/webhooks:test", "", "{ }"))
	})
	for name, other := range map[string][]byte{
		"another path":             of("/orders/x", "", `{"a":1,"b":{"c":"x","d":[1,2]}}`),
		"another query":            of("/orders", "x=1", `{"a":1,"b":{"c":"x","d":[1,2]}}`),
		"another value":            of("/orders", "", `{"a":2,"b":{"c":"x","d":[1,2]}}`),
		"another order of a list":  of("/orders", "", `{"a":1,"b":{"c":"x","d":[2,1]}}`),
		"an invalid body":          of("/orders", "", `{"a":1,"b":{"c":"x","d":[1,2]}`),
		"another key":              idempotent.Fingerprinter{Key: []byte("l")}.Of(http.MethodPost, "/orders", nil, []byte(`{"a":1,"b":{"c":"x","d":[1,2]}}`)),
		"text instead of a number": of("/orders", "", `{"a":"1","b":{"c":"x","d":[1,2]}}`),
	} {
		t.Run(name+" is another request", func(t *testing.T) { require.NotEqual(t, base, other) })
	}
	t.Run("members differ from elements and from text", func(t *testing.T) {
		seen := map[string]string{}
		for _, body := range []string{`{}`, `[]`, `""`, `"{}"`, `[[]]`, `[{}]`, `{"a":{}}`, `{"a":[]}`, `["a"]`, `["a","b"]`, `["ab"]`, `{"a":"b"}`, `{"ab":""}`, `null`, `"null"`, `true`, `1`, `"1"`} {
			digest := string(of("/o", "", body))
			require.Empty(t, seen[digest], "%s and %s have the same fingerprint", body, seen[digest])
			seen[digest] = body
		}
	})
	t.Run("deep nesting costs one pass", func(t *testing.T) {
		deep := strings.Repeat(`{"b":`, 9000) + `1` + strings.Repeat(`,"a":1}`, 9000)
		require.NotEqual(t, of("/o", "", deep), of("/o", "", " "+deep), "it is too deep to be read and counts byte for byte")
	})
	t.Run("a body with trailing text is not JSON", func(t *testing.T) {
		require.NotEqual(t, of("/o", "", `{} {}`), of("/o", "", `{}  {}`))
	})
	t.Run("large numbers differ", func(t *testing.T) {
		require.NotEqual(t, of("/o", "", `{"a":9007199254740993}`), of("/o", "", `{"a":9007199254740992}`))
	})
}
