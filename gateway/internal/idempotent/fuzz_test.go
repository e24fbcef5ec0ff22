package idempotent_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/pkg/problem"
)

// FuzzFingerprint: a JSON body keeps its fingerprint when another encoder rewrites it, with other white space, escapes and order
// of members. A changed body has another fingerprint.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,{"b":null}]}`, "\xff{", ``, ` `, `{}`, `[]`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a":"\u0078\/\ud83c\udf81"}`,
		`{"":{"":[]}}`,
		`{"a":1.0e+2,"b":1E2,"c":-0}`, `"a" `, `{"a":9007199254740993}`, `{} {}`, `[[[[[[]]]]]]`, `{"a":"\ud800"}`, "{\"a\":\"\x00\"}",
	} {
		f.Add([]byte(seed))
	}
	fingerprintOf := func(body []byte) string { return string(fingerprint("k", "/", nil, string(body))) }
	f.Fuzz(func(t *testing.T, body []byte) {
		fingerprint := fingerprintOf(body)
		require.Len(t, fingerprint, 32)
		if fingerprintOf(append([]byte(" "), body...)) != fingerprint {
			return // The body is not JSON and counts byte for byte.
		}
		if len(bytes.TrimSpace(body)) > 0 && !jsontext.Value(body).IsValid() {
			return // It has a name twice, of which another encoder keeps one.
		}
		if len(bytes.TrimSpace(body)) == 0 {
			body = []byte(`{}`)
		}
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		var value any
		require.NoError(t, decoder.Decode(&value), "only JSON has a canonical form")
		rewritten, err := json.MarshalIndent(value, "", "\t")
		require.NoError(t, err)
		require.Equal(t, fingerprint, fingerprintOf(rewritten), "%s", rewritten)
		wrapped, err := json.Marshal([]any{value})
		require.NoError(t, err)
		require.NotEqual(t, fingerprint, fingerprintOf(wrapped))
	})
}

// FuzzKey: no header causes a panic. A key is bounded text that is not blank, and its quoted form is the same key.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{
		`"a\"b"`, `abc-1`, `"abc-1"`, `""`, `"`, `"a`, `a"`, `"a\"`, `"\\"`, ` x `, `"  "`, "a\xff", "a\x00b", "\u00a0",
		strings.Repeat("å", 255), strings.Repeat("a", 256), `"` + strings.Repeat("a", 255) + `"`, `"a";q=1`, "\u200b",
	} {
		f.Add(seed)
	}
	escape := strings.NewReplacer(`"`, `\"`, `\`, `\\`)
	f.Fuzz(func(t *testing.T, header string) {
		key, err := idempotent.Key(http.Header{"Idempotency-Key": {header}})
		if err != nil {
			require.True(t, problem.Is(err, problem.IdempotencyKeyRequired) || problem.Is(err, problem.IdempotencyKeyInvalid))
			return
		}
		require.NotEmpty(t, strings.TrimSpace(key))
		require.True(t, utf8.ValidString(key))
		require.LessOrEqual(t, utf8.RuneCountInString(key), 255)
		if strings.Trim(key, printable) != "" {
			return // A quoted string contains only printable ASCII.
		}
		again, err := idempotent.Key(http.Header{"Idempotency-Key": {`"` + escape.Replace(key) + `"`}})
		require.NoError(t, err)
		require.Equal(t, key, again)
	})
}

// printable is the ASCII that a quoted string may contain.
var printable = func() string {
	var b strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()

// A body takes memory for its bytes, and nothing for each of its members.
func TestMembersTakeLittleMemory(t *testing.T) { //nolint:paralleltest // It counts all allocations of the process.
	body := manyMembers(100_000)
	require.Less(t, testing.AllocsPerRun(3, func() { fingerprint("k", "/", nil, body) }), 100.0)
}
