package importer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/importer"
)

// reported writes an entry for an id, and returns its line.
func reported(t *testing.T, format importer.Format, id string) string {
	t.Helper()
	var to strings.Builder
	report, err := importer.NewReport(&to, format)
	require.NoError(t, err)
	require.NoError(t, report.Write(importer.Entry{
		Line: 2, ID: id, Outcome: importer.Rejected, Errors: []importer.FieldError{{Field: id, Code: "invalid", Message: "is wrong"}},
	}))
	require.NoError(t, report.Flush())
	return strings.TrimPrefix(to.String(), "line,id,outcome,errors\n")
}

func TestAReportHasNoFormula(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"=cmd|' /C calc'!A0": `'=cmd|' /C calc'!A0`, "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "＝1": "'＝1", "a;=1": "a;'=1",
		"\t=1": `\x09=1`, "\r=1": `\x0d=1`, "\n=1": `\n=1`, "a=1-2": "a=1-2",
	} {
		require.True(t, strings.HasPrefix(reported(t, importer.CSV, id), "2,"+want+",rejected,"), "%q", id)
	}
	require.Equal(t, "2,'=1,rejected,'=1 invalid: is wrong\n", reported(t, importer.CSV, "=1"), "also of the errors")
}

func TestAReportControlsNoTerminal(t *testing.T) {
	t.Parallel()
	const id = "a\x1b[2J\u009b31m\u202eb\x7f\nc"
	for _, format := range []importer.Format{importer.CSV, importer.NDJSON} {
		line := reported(t, format, id)
		require.Equal(t, 1, strings.Count(line, "\n"))
		for _, control := range []string{"\x1b", "\u009b", "\u202e", "\x7f"} {
			require.NotContains(t, line, control)
		}
	}
	var entry importer.Entry
	require.NoError(t, json.Unmarshal([]byte(reported(t, importer.NDJSON, id)), &entry))
	require.Equal(t, id, entry.ID, "JSON has the text as it is")
}
