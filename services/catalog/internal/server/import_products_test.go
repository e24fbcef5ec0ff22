package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/importer"
)

// giftsCSV has n gifts.
func giftsCSV(n int) string {
	var b strings.Builder
	b.WriteString("id,state,name,description,name:sv-SE,variations,categories,availableCountries,prices,readyToSend\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,PUBLISHED,Blanket %d,\"Line one\nline two\",Gåva %d,Size=S|M,HOME__TEXTILES,SE;NO,NORDICS=%d.50,true\n",
			giftID(i), i, i, i+1)
	}
	return b.String()
}

func giftID(i int) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, "gift %d", i)).String()
}

// setupImport has the records that the gifts refer to.
func setupImport(t *testing.T) *fixture {
	t.Helper()
	f := setup(t)
	f.putRegion("NORDICS", "SE", "NO")
	f.putCategory("HOME", "TEXTILES")
	return f
}

// importFile imports a file and returns its report.
func (f *fixture) importFile(ctx context.Context, format importer.Format, file string) (importer.Totals, []importer.Entry, error) {
	f.t.Helper()
	rows, err := importer.Read(strings.NewReader(file), format)
	require.NoError(f.t, err)
	var out bytes.Buffer
	report, err := importer.NewReport(&out, importer.NDJSON)
	require.NoError(f.t, err)
	totals, err := importer.Import{Rows: rows, Catalog: f.imports, Report: report, Progress: io.Discard, Clock: time.Now}.Run(ctx)
	var entries []importer.Entry
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var e importer.Entry
		require.NoError(f.t, decoder.Decode(&e))
		entries = append(entries, e)
	}
	return totals, entries, err
}

func (f *fixture) all() []*catalogv1.ProductEntry {
	f.t.Helper()
	return f.list(&catalogv1.ListProductsRequest{Country: "SE", Limit: limit(100)})
}

func TestImportingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	const n = 450
	totals, entries, err := f.importFile(t.Context(), importer.CSV, giftsCSV(n))
	require.NoError(t, err)
	require.Equal(t, importer.Totals{Rows: n, Created: n}, totals)
	require.Equal(t, importer.Entry{Line: 2, ID: giftID(0), Outcome: importer.Created, Errors: []importer.FieldError{}}, entries[0])
	require.Equal(t, 4, entries[1].Line, "a cell holds a line break")
	first := f.all()
	require.Len(t, first, n)

	totals, _, err = f.importFile(t.Context(), importer.CSV, giftsCSV(n))
	require.NoError(t, err)
	require.Equal(t, importer.Totals{Rows: n, Unchanged: n}, totals)
	for i, entry := range f.all() {
		require.True(t, proto.Equal(first[i], entry), "updatedAt moves too")
	}
	t.Run("and only changed gifts are updated", func(t *testing.T) {
		changed := strings.Replace(giftsCSV(n), "Blanket 7,", "Thick blanket,", 1)
		since := newestOf(f.all())
		totals, entries, err := f.importFile(t.Context(), importer.CSV, changed)
		require.NoError(t, err)
		require.Equal(t, importer.Totals{Rows: n, Updated: 1, Unchanged: n - 1}, totals)
		require.Equal(t, importer.Updated, entries[7].Outcome)
		require.Equal(t, []string{giftID(7)}, ids(f.changedSince(since.Add(time.Microsecond))))
	})
	t.Run("while a long change holds the lock", func(t *testing.T) {
		tx, err := f.db.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(context.WithoutCancel(t.Context()))) }()
		pgtest.Exec(t, tx, `SELECT pg_advisory_xact_lock(4713001)`)
		totals, _, err := f.importFile(t.Context(), importer.CSV, giftsCSV(7))
		require.NoError(t, err)
		require.Equal(t, importer.Totals{Rows: 7, Unchanged: 7}, totals)
	})
}

func newestOf(entries []*catalogv1.ProductEntry) (at time.Time) {
	for _, e := range entries {
		if updated := e.GetProduct().GetUpdatedAt().AsTime(); updated.After(at) {
			at = updated
		}
	}
	return at
}

func TestInvalidRowsAreRejectedAndTheOthersImported(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	row := func(change func(g map[string]any)) string {
		g := map[string]any{
			"id": uuid.NewString(), "state": "PUBLISHED", "name": "Vase", "availableCountries": []string{"SE"},
			"categories": []string{"HOME__TEXTILES"}, "prices": []any{map[string]any{"region": "NORDICS", "amountEur": 12.5}},
		}
		change(g)
		raw, err := json.Marshal(g)
		require.NoError(t, err)
		return string(raw)
	}
	good := row(func(map[string]any) {})
	var twice map[string]any
	require.NoError(t, json.Unmarshal([]byte(good), &twice))
	file := strings.Join([]string{
		good,
		row(func(g map[string]any) { g["categories"] = []string{"HOME__GLASS"} }),
		row(func(g map[string]any) { g["name"], g["availableCountries"] = "", []string{"SE", "XX"} }),
		row(func(g map[string]any) { g["amount"] = 1 }),
		row(func(g map[string]any) { g["id"] = strings.ToUpper(twice["id"].(string)) }),
		row(func(g map[string]any) { g["imageFileIds"] = []string{"none"} }),
		row(func(map[string]any) {}),
	}, "\n")
	totals, entries, err := f.importFile(t.Context(), importer.NDJSON, file)
	require.NoError(t, err)
	require.Equal(t, importer.Totals{Rows: 7, Created: 2, Rejected: 5}, totals)
	var got []string
	for i, e := range entries {
		require.Equal(t, i+1, e.Line)
		line := e.Outcome
		for _, f := range e.Errors {
			line += " " + f.Field + " " + f.Code
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		"created",
		"rejected categories[0] " + problem.FieldInvalid,
		"rejected availableCountries[1] " + problem.FieldInvalid + " name " + problem.FieldRequired,
		"rejected amount " + problem.FieldInvalid,
		"rejected id " + problem.FieldDuplicate,
		"rejected imageFileIds[0] " + problem.FieldInvalid,
		"created",
	}, got)
	require.Len(t, f.all(), 2)
}

func TestAnImportContinuesAfterItWasKilled(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	const n = 650
	file := giftsCSV(n)
	ctx, kill := context.WithCancel(t.Context())
	rows, err := importer.Read(strings.NewReader(file), importer.CSV)
	require.NoError(t, err)
	_, err = importer.Import{
		Rows: rows, Catalog: f.imports, Report: killing{at: giftID(250), kill: kill}, Progress: io.Discard, Clock: time.Now,
	}.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "import of the rows from line 802")
	done := len(f.all())
	require.Equal(t, 400, done, "two batches")

	totals, _, err := f.importFile(t.Context(), importer.CSV, file)
	require.NoError(t, err)
	require.Equal(t, importer.Totals{Rows: n, Created: n - done, Unchanged: done}, totals)
	require.Len(t, f.all(), n)
}

// killing is a report that ends the import at a gift.
type killing struct {
	at   string
	kill context.CancelFunc
}

func (k killing) Write(e importer.Entry) error {
	if e.ID == k.at {
		k.kill()
	}
	return nil
}

func (killing) Flush() error { return nil }

func TestATruncatedFileIsImportedUpToItsEnd(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	totals, entries, err := f.importFile(t.Context(), importer.CSV, giftsCSV(3)+"a,\"b\" c\n")
	require.ErrorContains(t, err, "line 8: ")
	require.Equal(t, importer.Totals{Rows: 3, Created: 3}, totals)
	require.Len(t, entries, 3)
	require.Len(t, f.all(), 3)
}

func TestAnImportSuspendsOfferingsThatNoLongerFit(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	_, _, err := f.importFile(t.Context(), importer.CSV, giftsCSV(2))
	require.NoError(t, err)
	c := campaign(
		offering(giftID(0), onDemand, nil, "S"),
		offering(giftID(1), onDemand, nil, "S"),
	)
	f.putCampaign(c)
	file := strings.Replace(giftsCSV(2), giftID(0)+",PUBLISHED", giftID(0)+",ARCHIVED", 1)
	_, _, err = f.importFile(t.Context(), importer.CSV, file)
	require.NoError(t, err)
	got := call(f, f.catalog.GetCampaign, &catalogv1.GetCampaignRequest{CampaignId: c.GetId()})
	var statuses []catalogv1.OfferingStatus
	for _, o := range got.GetCampaign().GetOfferings() {
		statuses = append(statuses, o.GetStatus())
	}
	require.Equal(t, []catalogv1.OfferingStatus{
		needsReview, offered,
	}, statuses)
}

func TestOtherChangesAreMadeDuringAnImport(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	imported := make(chan error, 1)
	go func() {
		totals, _, err := f.importFile(t.Context(), importer.CSV, giftsCSV(1500))
		if err == nil && totals.Created != 1500 {
			err = fmt.Errorf("imported %+v", totals)
		}
		imported <- err
	}()
	own := gift()
	writes := 0
	for running := true; running; {
		select {
		case err := <-imported:
			require.NoError(t, err)
			running = false
		default:
			own.Name = fmt.Sprintf("Vase %d", writes)
			f.put(own)
			call(f, f.catalog.ListProducts, &catalogv1.ListProductsRequest{Country: "SE"})
			writes++
		}
	}
	require.Greater(t, writes, 2)
	require.Len(t, f.all(), 1501)
}

func TestInvalidImportRequests(t *testing.T) {
	t.Parallel()
	f := setupImport(t)
	call := func(products ...*catalogv1.PutProductRequest) error {
		_, err := f.imports.ImportProducts(t.Context(), &catalogv1.ImportProductsRequest{Products: products})
		return err
	}
	require.Equal(t, codes{"products": problem.FieldRequired}, violationsOf(t, call()))
	many := make([]*catalogv1.PutProductRequest, 501)
	for i := range many {
		many[i] = gift()
	}
	require.Equal(t, codes{"products": problem.FieldTooLong}, violationsOf(t, call(many...)))
	require.NoError(t, call(many[1:]...))
	require.Equal(t, codes{"products[2].id": problem.FieldDuplicate}, violationsOf(t, call(many[0], many[1], many[0])))
	require.Len(t, f.all(), 500)
}
