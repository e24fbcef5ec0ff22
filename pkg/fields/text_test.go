package fields_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

// code returns the code of the one violation that a check adds, or nothing.
func code(t *testing.T, check func(e *fields.Errors)) string {
	t.Helper()
	var e fields.Errors
	check(&e)
	require.LessOrEqual(t, len(e.List()), 1)
	for _, v := range e.List() {
		return v.Code
	}
	return ""
}

func TestATextOfWhichNothingIsSeenIsBlank(t *testing.T) {
	t.Parallel()
	for name, blank := range map[string]string{
		"nothing": "", "white space": " \t\n\v\f\r\u00a0\u0085\u2003\u3000", "line separators": "\u2028\u2029",
		"zero-width": "\u200b\u200c\u200d\u2060", "byte order mark": "\ufeff", "soft hyphen": "\u00ad",
		"bidi marks": "\u200e\u200f\u061c\u2066\u2069", "bidi overrides": "\u202d\u202c", "tags": "\U000e0041\U000e007f",
		"Braille blank": "\u2800", "Hangul fillers": "\u3164\u115f\u1160\uffa0", "a variation selector": "\ufe0f",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.True(t, fields.Blank(blank))
			require.Nil(t, fields.Optional(&blank))
			require.Empty(t, fields.UnlessBlank(blank))
			for _, check := range []func(e *fields.Errors){
				func(e *fields.Errors) { e.Required("f", blank, 1) },
				func(e *fields.Errors) { e.RequiredText("f", blank, 1) },
				func(e *fields.Errors) { e.RequiredUUID("f", blank) },
			} {
				require.Equal(t, problem.FieldRequired, code(t, check))
			}
			for _, check := range []func(e *fields.Errors){
				func(e *fields.Errors) { e.Line("f", blank, 1) },
				func(e *fields.Errors) { e.Text("f", blank, 1) },
				func(e *fields.Errors) { e.Email("f", blank, 1) },
				func(e *fields.Errors) { e.URL("f", blank, 1, "https") },
			} {
				require.Empty(t, code(t, check), "a blank text counts as empty")
			}
		})
	}
	for _, seen := range []string{"a", ".", "\u200ba", "\u0301", "\x00", "\x1f", "\x7f", "\xff", "🏴\U000e0067\U000e007f"} {
		require.False(t, fields.Blank(seen), "%q", seen)
	}
}

func TestWhichCharactersATextMayHave(t *testing.T) {
	t.Parallel()
	const ok, invalid = "", problem.FieldInvalid
	for text, want := range map[string]struct{ line, text string }{
		"Ann":                      {ok, ok},
		"جاسم\u200cزاده":           {ok, ok}, // A joiner that the name needs.
		"👩\u200d👧":                 {ok, ok},
		"\u200eAnn\u200f":          {ok, ok},
		"\u2067אן\u2069":           {ok, ok},
		"a\nb":                     {invalid, ok},
		"a\r\nb":                   {invalid, ok},
		"a\tb":                     {invalid, ok},
		"Ann\r\n":                  {invalid, ok},
		"a\x00b":                   {invalid, invalid},
		"\x00":                     {invalid, invalid},
		"a\x1b[31mb":               {invalid, invalid},
		"\x1f":                     {invalid, invalid},
		"a\vb":                     {invalid, invalid},
		"a\x7f":                    {invalid, invalid},
		"a\u0085b":                 {invalid, invalid},
		"a\u009bb":                 {invalid, invalid},
		"\u202egnp.exe":            {invalid, ok},
		"a\u202ab\u202c":           {invalid, ok},
		"a\xffb":                   {invalid, invalid},
		strings.Repeat("å", 21):    {problem.FieldTooLong, problem.FieldTooLong},
		strings.Repeat("\r\n", 20): {ok, ok}, // Blank.
	} {
		require.Equal(t, want.line, code(t, func(e *fields.Errors) { e.Line("f", text, 20) }), "%q", text)
		require.Equal(t, want.text, code(t, func(e *fields.Errors) { e.Text("f", text, 20) }), "%q", text)
		if !fields.Blank(text) {
			require.Equal(t, want.line, code(t, func(e *fields.Errors) { e.Required("f", text, 20) }), "%q", text)
			require.Equal(t, want.text, code(t, func(e *fields.Errors) { e.RequiredText("f", text, 20) }), "%q", text)
		}
	}
}

func TestNoTextControlsATerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain, Ærø ☃":         "plain, Ærø ☃",
		"\x1b[2J\r\t\x7f":      `\x1b[2J\x0d\x09\x7f`,
		"a\u202eb\u009b\u2028": `a\u202eb\u009b\u2028`,
		"family 👩\u200d👧":      "family 👩\u200d👧",
		"not UTF-8: \xff":      `not UTF-8: \xff`,
		"a replacement: �":     "a replacement: �",
		"two\nlines":           `two\nlines`,
	} {
		require.Equal(t, want, fields.VisibleLine(text))
	}
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	//nolint:testifylint // The bytes matter: JSONEq compares what they mean.
	require.Equal(t, `{"a":"\u001b\u202e\u007f\udb40\udc01 ü"}`,
		fields.VisibleJSON([]byte(`{"a":"\u001b`+"\u202e\x7f\U000e0001 ü"+`"}`)))
}
