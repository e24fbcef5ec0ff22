package fields_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
)

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
	require.Equal(t, "two\nlines", fields.VisibleText("two\nlines"))
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	//nolint:testifylint // The bytes matter: JSONEq compares what they mean.
	require.Equal(t, `{"a":"\u001b\u202e\u007f\udb40\udc01 ü"}`, fields.VisibleJSON([]byte(`{"a":"\u001b`+"\u202e\x7f\U000e0001 ü"+`"}`)))
}
