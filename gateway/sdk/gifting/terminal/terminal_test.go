package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
)

func TestNoTextControlsTheTerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain, Ærø ☃\n":       "plain, Ærø ☃\n",
		"\x1b[2J":              `\u001b[2J`,
		"a\u202eb":             `a\u202eb`,
		"\U000e0001":           `\udb40\udc01`,
		"family 👩\u200d👧":      "family 👩\u200d👧",
		"not UTF-8: \xff, nul": "not UTF-8: �, nul",
	} {
		require.Equal(t, want, terminal.Visible(text))
	}
}

func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, terminal.JSON(&out, map[string]string{"a": "\x1b\u202e"}))
	require.Equal(t, "{\n  \"a\": \"\\u001b\\u202e\"\n}\n", out.String()) //nolint:testifylint // The escapes are what is tested.
	out.Reset()
	require.NoError(t, terminal.JSONLine(&out, []int{1, 2}))
	require.Equal(t, "[1,2]\n", out.String())
}

func TestATableIsAligned(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, terminal.Table(&out, []string{"id", "a name"}, [][]string{{"1", "x\ny"}, {"längre", ""}}))
	require.Equal(t, "ID      A NAME\n1       x y\nlängre\n", out.String())
}

func TestColumnsAreAlignedForTextsOfAnyWidth(t *testing.T) {
	t.Parallel()
	names := []string{"plain", "ünicode", "u\u0308 combined", "日本語", "🎁 gift", "ﾊﾝｶｸ", "👩‍🚀"}
	var rows [][]string
	for _, name := range names {
		rows = append(rows, []string{name, "SE"})
	}
	var out strings.Builder
	require.NoError(t, terminal.Table(&out, nil, rows))
	lines := strings.Split(out.String(), "\n")
	// The widest is "u combined" with 10 columns.
	for i, spaces := range []int{7, 5, 2, 6, 5, 8} {
		require.Equal(t, names[i]+strings.Repeat(" ", spaces)+"SE", lines[i])
	}
}

func TestARecordIsAListOfItsMembers(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, terminal.Record(&out, struct {
		B string         `json:"b"`
		N *int           `json:"n"`
		A []int64        `json:"a"`
		M map[string]any `json:"m"`
	}{"x", nil, []int64{9007199254740993, 2}, map[string]any{"k": map[string]any{"l": true}}}))
	require.Equal(t, "b      x\na[0]   9007199254740993\na[1]   2\nm.k.l  true\n", out.String())
}
