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
	of := func(path, query, body string) []byte {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		return fingerprint("k", path, q, body)
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
		"another key":              fingerprint("l", "/orders", nil, `{"a":1,"b":{"c":"x","d":[1,2]}}`),
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
		"no body":         {nil, "", "19e1435dca77ea2551f9517d2a1100f2a19317e8cf933c68419e7bd165d758bf"},
		"a query":         {url.Values{"b": {"2", "1"}, "a": {"ø"}}, "{}", "46bf7e2798cfd44279e3ecf142a4172f0ba624617274a53b654c0f4015deefc3"},
		"scalars":         {nil, `[null,true,false,-0,1.50e+3,"","text","\u00e5\ud83c\udf81\n"]`, "ded071c3ee23d2e396a3d5c972d09199056941e5f8588968b1f4f26b308cbdac"},
		"a single scalar": {nil, ` "x" `, "ed35b69ef175e815caa424c47f70e943b904cf3d8840451e2439bcee7a692fc0"},
		"an order":        {nil, `{"externalOrderId":"o-1","items":[{"kind":"CATALOG","variations":{"Size":"M","Colour":"Sea \u0067reen"}}],"urgent":false,"recipient":{"name":"Ann","phone":"+46 70"}}`, "b634c575c0f9dbb01c2ae0f4d106a4fd46320e6f262a1c1ef1cd8f4673fa9972"},
		"escaped names":   {nil, `{"\u0062":1,"a":{},"":[],"é":"\"","B":{"z":[[]],"y":{"x":null}}}`, "11ab366d715994a987ae4527789474a755a075d9cfbdce08b28fb52f2ad98389"},
		"a hundred deep":  {nil, strings.Repeat(`{"a":`, 99) + `[1]` + strings.Repeat(`}`, 99), "942a3b942716890a5c91b5d9098d9e9864b26a99714629edce6de9983137e7e6"},
		"deeper":          {nil, strings.Repeat(`[`, 102) + strings.Repeat(`]`, 102), "4a5e2133374af7f9c2e0a4834e8511d58d471b051703f88cd6df5fb0c151899e"},
		"many members":    {nil, manyMembers(20_000), "c0d5b0635504381d02b7b6e9154c66942f900da7fae1b99296b961ffbb4e6e64"},
		"many elements":   {nil, "[" + strings.Repeat(`1,"x",`, 20_000) + `{"a":["` + strings.Repeat("long ", 5000) + `"]}]`, "7d424ee50988aeaee0749a724ed4bce0570decaf5d5deaaeebb844297a494943"},
		"a long text":     {nil, `"` + strings.Repeat(`x\u0041`, 50_000) + `"`, "462abc99b0d07bb2767627ef7b81a52aa519a52299105c21240643a7693cfdb9"},
		"not JSON":        {nil, `{"a":1`, "8eb26cf2fe9f982b9d6e02c6906f8fee7f733c5b24f43911ef0db60449f53e24"},
		"a name twice":    {nil, `{"a":1,"\u0061":2}`, "682a78aaca0574049a8178954c31f05955e4809c29591a601cdc6f3912aeecde"},
		"not text":        {nil, "\"\xff\"", "12e9f225482d1c0d7d6ba00de897b0399d81bc7316d3744a167eebf02f9cc1a0"},
		"trailing text":   {nil, `{} x`, "65da8eadb37b33eeee46139c95591a2155f4bd3735f784fbc4c2390f7ef553d9"},
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
		first, others := idempotent.NewFingerprinter([]byte("new"), []byte("old"), []byte("older")).Of(http.MethodPost, "/orders", nil, []byte(body))
		require.Equal(t, fingerprint("new", "/orders", nil, body), first)
		require.Equal(t, [][]byte{
			fingerprint("old", "/orders", nil, body), fingerprint("older", "/orders", nil, body),
		}, others)
		_, others = idempotent.NewFingerprinter([]byte("new")).Of(http.MethodPost, "/orders", nil, []byte(body))
		require.Empty(t, others)
	}
}
