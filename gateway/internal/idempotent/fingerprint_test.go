package idempotent_test

import (
	"encoding/hex"
	"fmt"
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
		"a single quote":         {[]string{`"`}, "", problem.IdempotencyKeyInvalid},
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
	fingerprintOf := func(path, query, body string) []byte {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		return fingerprint("k", path, q, body)
	}
	base := fingerprintOf("/orders", "", `{"a":1,"b":{"c":"x","d":[1,2]}}`)
	t.Run("member order, white space and escapes do not matter", func(t *testing.T) {
		require.Equal(t, base, fingerprintOf("/orders", "", " {\"b\": {\"d\":[1, 2],\"c\":\"\\u0078\"},\n\"a\":1 } "))
	})
	t.Run("no body is an empty object", func(t *testing.T) {
		require.Equal(t, fingerprintOf("/webhooks:test", "", ""), fingerprintOf("/webhooks:test", "", "{ }"))
	})
	for name, other := range map[string][]byte{
		"another path":             fingerprintOf("/orders/x", "", `{"a":1,"b":{"c":"x","d":[1,2]}}`),
		"another query":            fingerprintOf("/orders", "x=1", `{"a":1,"b":{"c":"x","d":[1,2]}}`),
		"another value":            fingerprintOf("/orders", "", `{"a":2,"b":{"c":"x","d":[1,2]}}`),
		"another order of a list":  fingerprintOf("/orders", "", `{"a":1,"b":{"c":"x","d":[2,1]}}`),
		"an invalid body":          fingerprintOf("/orders", "", `{"a":1,"b":{"c":"x","d":[1,2]}`),
		"another key":              fingerprint("l", "/orders", nil, `{"a":1,"b":{"c":"x","d":[1,2]}}`),
		"text instead of a number": fingerprintOf("/orders", "", `{"a":"1","b":{"c":"x","d":[1,2]}}`),
	} {
		t.Run(name+" is another request", func(t *testing.T) { require.NotEqual(t, base, other) })
	}
	t.Run("members differ from elements and from text", func(t *testing.T) {
		seen := map[string]string{}
		for _, body := range []string{
			`{}`, `[]`, `""`, `"{}"`, `[[]]`, `[{}]`, `{"a":{}}`, `{"a":[]}`, `["a"]`, `["a","b"]`, `["ab"]`,
			`{"a":"b"}`, `{"ab":""}`, `null`, `"null"`, `true`, `1`, `"1"`,
		} {
			digest := string(fingerprintOf("/o", "", body))
			require.Empty(t, seen[digest], "%s and %s have the same fingerprint", body, seen[digest])
			seen[digest] = body
		}
	})
	t.Run("deep nesting costs one pass", func(t *testing.T) {
		deep := strings.Repeat(`{"b":`, 9000) + `1` + strings.Repeat(`,"a":1}`, 9000)
		withSpace := fingerprintOf("/o", "", " "+deep)
		require.NotEqual(t, fingerprintOf("/o", "", deep), withSpace, "it is too deep to be read and counts byte for byte")
	})
	t.Run("a body with trailing text is not JSON", func(t *testing.T) {
		require.NotEqual(t, fingerprintOf("/o", "", `{} {}`), fingerprintOf("/o", "", `{}  {}`))
	})
	t.Run("large numbers differ", func(t *testing.T) {
		require.NotEqual(t, fingerprintOf("/o", "", `{"a":9007199254740993}`), fingerprintOf("/o", "", `{"a":9007199254740992}`))
	})
}

// manyMembers is an object whose n members are not in canonical order.
func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"f%d":[%d]`, n-i, i)
	}
	return "{" + b.String()[1:] + "}"
}

// Fingerprints are stored, so later versions must compute the same ones.
func TestFingerprintsAreStable(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		query url.Values
		body  string
		want  string
	}{
		"no body": {nil, "", "43868c5ff8a3fde12c34f369c8000cbcf0cccd2713495bf797d0903166a30017"},
		"a query": {
			url.Values{"b": {"2", "1"}, "a": {"ø"}},
			"{}",
			"64d12f4ab97f208cf8155d295b33e709317ca1350e39ff0134d412eebba09a79",
		},
		"scalars": {
			nil, `[null,true,false,-0,1.50e+3,"","text","\u00e5\ud83c\udf81\n"]`,
			"f51814aa7e132d6484baf803d21abff3042d93ad11d0e8ea97844ea540a3ea92",
		},
		"a single scalar": {nil, ` "x" `, "afa9db531ea7b52396afc22bfe61dd751d8ee789ca96872d57c1c3099e60f0fd"},
		"an order": {
			nil,
			`{"externalOrderId":"o-1","items":[{"kind":"CATALOG","variations":{"Size":"M","Colour":"Sea \u0067reen"}}],` +
				`"urgent":false,"recipient":{"name":"Ann","phone":"+46 70"}}`,
			"1a667c9fdfed328f10305f2052a58ee3a598a5b9228c831a9c53a621f3052ec2",
		},
		"escaped names": {
			nil, `{"\u0062":1,"a":{},"":[],"é":"\"","B":{"z":[[]],"y":{"x":null}}}`,
			"f07288b9eacb7d5e30dd9020450b01d4843c65bd69bea80b916065d16fc57ee4",
		},
		"a hundred deep": {
			nil, strings.Repeat(`{"a":`, 99) + `[1]` + strings.Repeat(`}`, 99),
			"a99539d5e779dcca4ff2671efff3c62376eea0a8fa5b29a87959ee9b541248e3",
		},
		"deeper": {
			nil, strings.Repeat(`[`, 102) + strings.Repeat(`]`, 102),
			"4a5e2133374af7f9c2e0a4834e8511d58d471b051703f88cd6df5fb0c151899e",
		},
		"many members": {nil, manyMembers(20_000), "d5ec8c6f6b0298a90b801d2613314b8622f5e6b266ea14d8032f06bae0cfb583"},
		"many elements": {
			nil, "[" + strings.Repeat(`1,"x",`, 20_000) + `{"a":["` + strings.Repeat("long ", 5000) + `"]}]`,
			"64cb9924b0ab6adff2aabfaf81805bcd0565c4c00f0a03a23f7cd41f4b40a412",
		},
		"a long text": {
			nil, `"` + strings.Repeat(`x\u0041`, 50_000) + `"`,
			"684e93e283d8a8fb25a1a0b6759732e7704fbb010b2a7a007911527741515391",
		},
		"not JSON":      {nil, `{"a":1`, "8eb26cf2fe9f982b9d6e02c6906f8fee7f733c5b24f43911ef0db60449f53e24"},
		"a name twice":  {nil, `{"a":1,"\u0061":2}`, "e4d98e66bcc850fdd104280e2e26cf7a8fbd66209f3ef7d78c6e4f6c2a71a7ae"},
		"not text":      {nil, "\"\xff\"", "12e9f225482d1c0d7d6ba00de897b0399d81bc7316d3744a167eebf02f9cc1a0"},
		"trailing text": {nil, `{} x`, "65da8eadb37b33eeee46139c95591a2155f4bd3735f784fbc4c2390f7ef553d9"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, hex.EncodeToString(fingerprint("a key that does not change", "/orders", tc.query, tc.body)))
		})
	}
}

// fingerprint is that of a POST by a ring of one key.
func fingerprint(key, path string, query url.Values, body string) []byte {
	first, _ := idempotent.NewFingerprinter([]byte(key)).Of(http.MethodPost, path, query, []byte(body))
	return first
}

func TestARingMakesTheFingerprintsOfAllItsKeys(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"a":1}`, `not JSON`} {
		first, others := idempotent.NewFingerprinter([]byte("new"), []byte("old"),
			[]byte("older")).Of(http.MethodPost, "/orders", nil, []byte(body))
		require.Equal(t, fingerprint("new", "/orders", nil, body), first)
		require.Equal(t, [][]byte{
			fingerprint("old", "/orders", nil, body), fingerprint("older", "/orders", nil, body),
		}, others)
		_, others = idempotent.NewFingerprinter([]byte("new")).Of(http.MethodPost, "/orders", nil, []byte(body))
		require.Empty(t, others)
	}
}
