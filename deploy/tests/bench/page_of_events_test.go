package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

const eventsOfPage = 50

// pageOfEventsInSQL is a page of the feed as one statement reads it.
const pageOfEventsInSQL = `SELECT event_id::text, type, occurred_at, data FROM feed
WHERE tenant_id = $1 AND day >= $2 AND (day, position) > ($2, $3) ORDER BY day, position LIMIT 50`

// feedPage is the place where a page begins, as a path and in the table.
type feedPage struct {
	path     string
	day      time.Time
	position int64
}

// BenchmarkPageOfEvents reads pages of fifty events through the gateway, and the same rows by one SQL statement, with one
// client and with sixteen on each side.
func BenchmarkPageOfEvents(b *testing.B) {
	f := deployOrders(b, nil)
	f.placeMany(b)
	f.drain(b)
	all, pages, pool := f.clients(b, clients), f.feedPages(b), f.Pool(b, "events", clients)
	meter := f.NewMeter(b)
	edge, sql := map[int]*side{}, map[int]*side{}
	for _, number := range []int{1, clients} {
		edge[number], sql[number] = &side{clients: number}, &side{clients: number}
	}
	next := make([]int, clients) // Each client has its own.
	page := func(client int) feedPage {
		next[client]++
		return pages[(client+next[client])%len(pages)]
	}
	fixture.Once(b, func() {
		for range iterations() {
			for _, number := range []int{1, clients} {
				edge[number].measure(b, meter, func(client int) error {
					_, err := all[client].Get(page(client).path)
					return err
				}, func() {})
				sql[number].measure(b, meter, func(client int) error {
					at := page(client)
					rows, err := pool.Query(b.Context(), pageOfEventsInSQL, f.tenant.ID, at.day, at.position)
					if err != nil {
						return err
					}
					return requireRows(rows, eventsOfPage)
				}, func() {})
				b.Logf("%d clients: gateway %v, SQL %v", number, edge[number], sql[number])
			}
		}
	})
	for number, side := range edge {
		of := "-of-" + strconv.Itoa(number)
		b.ReportMetric(fixture.Median(side.rates), "edge-pages/s"+of)
		b.ReportMetric(fixture.MedianRatio(sql[number].rates, side.rates), "edge/sql"+of)
	}
	edge[clients].used.Report(b, edge[clients].requests, time.Millisecond, "cpu-ms")
	b.ReportMetric(fixture.Load(b), "load")
}

// feedPages are the full pages of the tenant's feed.
func (f *ordersFixture) feedPages(b *testing.B) (pages []feedPage) {
	b.Helper()
	c := f.clients(b, 1)[0]
	rows, err := f.Connect(b, "events").Query(b.Context(),
		`SELECT day, position FROM feed WHERE tenant_id = $1 ORDER BY day, position`, f.tenant.ID)
	require.NoError(b, err)
	positions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (at feedPage, err error) {
		err = row.Scan(&at.day, &at.position)
		return at, err
	})
	require.NoError(b, err)
	path := "/events?limit=" + strconv.Itoa(eventsOfPage)
	for last := eventsOfPage - 1; last+eventsOfPage < len(positions); last += eventsOfPage {
		answer, err := c.Get(path)
		require.NoError(b, err)
		var page struct{ NextCursor string }
		require.NoError(b, json.Unmarshal(answer, &page))
		path = fmt.Sprintf("/events?limit=%d&after=%s", eventsOfPage, page.NextCursor)
		pages = append(pages, feedPage{path: path, day: positions[last].day, position: positions[last].position})
	}
	require.NotEmpty(b, pages)
	return pages
}

var errRows = errors.New("rows of a page")

// requireRows reads all rows as they are.
func requireRows(rows pgx.Rows, wanted int) error {
	read := 0
	for rows.Next() {
		read += min(1, len(rows.RawValues()))
	}
	if err := rows.Err(); err != nil || read == wanted {
		return err
	}
	return fmt.Errorf("%w: %d, not %d", errRows, read, wanted)
}
