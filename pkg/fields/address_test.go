package fields_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestEmailAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"ann@example.com", "ann.b+c@mail.example.se", "ann@bücher.example", "ann@xn--bcher-kva.example", "åsa@example.com",
		"ann@old--shop.example", "ann@例え.jp", strings.Repeat("a", 64) + "@example.com",
	} {
		require.True(t, fields.IsEmail(s), s)
	}
	for _, s := range []string{
		"", "ann", "ann@", "@example.com", "Ann <ann@example.com>", "ann@example", "ann@example.com ", "a b@example.com", "ann@.com",
		"ann@example.", "ann@example.com.", "ann@a..example", "ann@[192.0.2.1]", "ann@a_b.example", "ann@xn--zzzzzzzz-.example",
		"\u200bann@example.com", "ann@example.com\u200b", "\u202eann@example.com", "ann\u2066@example.com", "ann@exa\u00admple.com",
		"ann\u3164@example.com", "ann\x7f@example.com", "ann\r\n@example.com",
		strings.Repeat("a", 65) + "@example.com", strings.Repeat("å", 33) + "@example.com", "ann@" + strings.Repeat("a", 64) + ".com",
		"ann@-example.com", "ann@example-.com", "ann@a.-b.com", "ann@-bücher.example", "ann@example.-",
	} {
		require.False(t, fields.IsEmail(s), "%q", s)
		if s != "" {
			require.Equal(t, problem.FieldInvalid, code(t, func(e *fields.Errors) { e.Email("f", s, 255) }), "%q", s)
		}
	}
}

func TestAddressesThatAreTheSameHaveOneKey(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"X@Bücher.Example", "x@xn--bcher-kva.example", " x@BÜCHER.example\u200b", "x@bu\u0308cher。example"} {
		require.Equal(t, "x@xn--bcher-kva.example", fields.EmailKey(s), "%q", s)
	}
	require.Equal(t, "\u00e5sa.i@example.com", fields.EmailKey("\u00c5SA.\u0130@example.com"), "letters beyond ASCII")
	require.Equal(t, "ann", fields.EmailKey(" Ann"), "what is no address")
	require.NotEqual(t, fields.EmailKey("x@faß.example"), fields.EmailKey("x@fass.example"), "two domains")
}

func TestURLs(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"https://example.com", "https://example.com:8443/a?b=c#d", "https://bücher.example/tåg", "HTTPS://example.com/",
		"https://192.0.2.1/",
	} {
		require.True(t, fields.IsURL(s, "https"), s)
	}
	for _, s := range []string{
		"", "example.com", "/logo.svg", "//example.com/", "http://example.com/", "javascript:alert(1)", "https:example.com", "https:///a",
		"https://:443/", "https://user@example.com/", "https://u:p@example.com/", "https://@example.com/", "https://example.com/a b",
		"https://example.com/ ", "https://example.com/\r\nSet-Cookie: a", "https://example.com/\x7f",
		`https://example.com\@evil.example/`,
		"https://example.com/\u202egpj", "https://exam\u200bple.com/", "https://example.com/\u3164", "https://example.com/\xff",
	} {
		require.False(t, fields.IsURL(s, "https"), "%q", s)
	}
	require.True(t, fields.IsURL("http://example.com/", "https", "http"))
}

func TestALongDomainCostsNoMoreThanItsLength(t *testing.T) {
	t.Parallel()
	var letters strings.Builder
	for r := range 20_000 {
		letters.WriteRune(rune(0x4e00 + r))
	}
	long := "x@" + strings.Repeat(letters.String(), 50) + ".example"
	require.False(t, fields.IsEmail(long))
	require.Equal(t, long, fields.EmailKey(long))
}
