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
	for name, tc := range map[string]struct {
		header []string
		want   string
		fault  problem.Code
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
			if tc.fault != "" {
				require.True(t, problem.Is(err, tc.fault), "%v", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestFingerprints(t *testing.T) {
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
		"a text instead of number": of("/orders", "", `{"a":"1","b":{"c":"x","d":[1,2]}}`),
	} {
		t.Run(name+" is another request", func(t *testing.T) { require.NotEqual(t, base, other) })
	}
	t.Run("large numbers do not fall together", func(t *testing.T) {
		require.NotEqual(t, of("/o", "", `{"a":9007199254740993}`), of("/o", "", `{"a":9007199254740992}`))
	})
}

func FuzzFingerprint(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`))
	f.Add([]byte("\xff{"))
	f.Fuzz(func(t *testing.T, body []byte) {
		p := idempotent.Fingerprinter{Key: []byte("k")}
		require.Equal(t, p.Of("POST", "/", nil, body), p.Of("POST", "/", nil, append([]byte(" "), body...)[1:]))
	})
}

func FuzzKey(f *testing.F) {
	f.Add(`"a\"b"`)
	f.Fuzz(func(t *testing.T, header string) {
		key, err := idempotent.Key(http.Header{"Idempotency-Key": {header}})
		if err == nil {
			require.NotEmpty(t, strings.TrimSpace(key))
		}
	})
}
