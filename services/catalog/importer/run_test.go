package importer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/importer"
)

// flaky is a catalog whose first calls fail.
type flaky struct {
	failures []error
	calls    int
	sent     int
}

func (f *flaky) ImportProducts(
	_ context.Context, req *catalogv1.ImportProductsRequest, _ ...grpc.CallOption,
) (*catalogv1.ImportProductsResponse, error) {
	f.calls++
	if len(f.failures) > 0 {
		failure := f.failures[0]
		f.failures = f.failures[1:]
		return nil, failure
	}
	f.sent += len(req.GetProducts())
	resp := &catalogv1.ImportProductsResponse{}
	for range req.GetProducts() {
		resp.Results = append(resp.Results, &catalogv1.ImportResult{Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED})
	}
	return resp, nil
}

// run imports a CSV file and returns the report and the progress.
func run(
	t *testing.T, catalog catalogv1.ImportServiceClient, file string, format importer.Format,
) (report, progress string, err error) {
	t.Helper()
	rows, err := importer.Read(strings.NewReader(file), importer.CSV)
	require.NoError(t, err)
	var out, progressed bytes.Buffer
	to, err := importer.NewReport(&out, format)
	require.NoError(t, err)
	clock := time.Unix(0, 0)
	_, err = importer.Import{Rows: rows, Catalog: catalog, Report: to, Progress: &progressed, Clock: func() time.Time {
		clock = clock.Add(time.Second)
		return clock
	}}.Run(t.Context())
	return out.String(), progressed.String(), err
}

func TestAnUnavailableCatalogIsTriedAgain(t *testing.T) {
	t.Parallel()
	catalog := &flaky{failures: []error{problem.Unavailable(), problem.Unavailable()}}
	_, progress, err := run(t, catalog, header+jerseyCSV, importer.NDJSON)
	require.NoError(t, err)
	require.Equal(t, 3, catalog.calls)
	require.Equal(t, "1 rows: 1 created, 0 updated, 0 unchanged, 0 rejected; 2 s, 0 rows/s\n", progress)
	t.Run("but not after another error", func(t *testing.T) {
		catalog := &flaky{failures: []error{problem.Internal()}}
		_, _, err := run(t, catalog, header+jerseyCSV, importer.NDJSON)
		require.True(t, problem.Is(err, problem.InternalError), "%v", err)
		require.ErrorContains(t, err, "import of the rows from line 2")
		require.Equal(t, 1, catalog.calls)
	})
}

func TestReports(t *testing.T) {
	t.Parallel()
	const file = "id,state,name\n" + jerseyID + ",DRAFT,n\n" + jerseyID + ",SOLD,\"n\"\n"
	for format, want := range map[importer.Format]string{
		importer.NDJSON: `{"line":2,"id":"` + jerseyID + `","outcome":"created","errors":[]}` + "\n" +
			`{"line":3,"id":"` + jerseyID + `","outcome":"rejected","errors":[` +
			`{"field":"state","code":"invalid","message":"must be DRAFT, PUBLISHED, ARCHIVED or INTERNAL"},` +
			`{"field":"id","code":"duplicate","message":"is already in line 2"}]}` + "\n",
		importer.CSV: "line,id,outcome,errors\n2," + jerseyID + ",created,\n" +
			`3,` + jerseyID + `,rejected,` +
			`"state invalid: must be DRAFT, PUBLISHED, ARCHIVED or INTERNAL; id duplicate: is already in line 2"` + "\n",
	} {
		report, _, err := run(t, &flaky{}, file, format)
		require.NoError(t, err)
		require.Equal(t, want, report)
	}
	_, err := importer.NewReport(nil, "xml")
	require.ErrorIs(t, err, importer.ErrFormat)
}

func TestProgressIsReported(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	file.WriteString("id,state,name\n")
	for range 1000 {
		file.WriteString("x,DRAFT,n\n")
	}
	catalog := &flaky{}
	_, progress, err := run(t, catalog, file.String(), importer.CSV)
	require.NoError(t, err)
	require.Equal(t, 5, catalog.calls)
	require.Equal(t, 1000, catalog.sent)
	lines := strings.Split(strings.TrimSpace(progress), "\n")
	require.Greater(t, len(lines), 2)
	require.True(t, strings.HasPrefix(lines[0], "400 rows: 400 created, "), lines[0])
	require.True(t, strings.HasPrefix(lines[len(lines)-1], "1000 rows: 1000 created, "))
}

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
