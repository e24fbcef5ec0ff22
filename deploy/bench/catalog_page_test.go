package bench_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

const (
	gifts    = 20_000
	pageSize = 100
)

// multiply copies the demo's gifts until there are so many, with their prices.
const multiply = `WITH made AS (
  INSERT INTO products (id, state, published_once, name, description, translations, variations, categories, available_countries,
    image_file_ids, customization_available, gift_set, ready_to_send, updated_at)
  SELECT gen_random_uuid(), state, published_once, name, description, translations, variations, categories, available_countries,
    image_file_ids, customization_available, gift_set, ready_to_send, updated_at
  FROM products CROSS JOIN generate_series(1, %[1]d) AS n WHERE state = 'PUBLISHED' LIMIT %[1]d RETURNING id
)
INSERT INTO product_prices (product_id, region, amount_eur)
SELECT id, region, 25 FROM made CROSS JOIN (SELECT region FROM region_countries WHERE country = 'SE') AS r`

// pageInSQL is a page of gifts as one statement reads it.
const pageInSQL = `SELECT p.id, p.state, p.name, p.description, p.translations->'sv-SE', 'SE' = ANY(p.available_countries),
  (SELECT amount_eur FROM product_prices
    WHERE product_id = p.id AND region = (SELECT region FROM region_countries WHERE country = 'SE')),
  (SELECT rate FROM exchange_rates WHERE currency = 'SEK'), p.variations, p.categories, p.image_file_ids,
  (SELECT jsonb_agg(jsonb_build_array(r.original, r.width, r.file_id)) FROM image_renditions r WHERE r.original = ANY(p.image_file_ids)),
  p.customization_available, p.gift_set, p.ready_to_send, p.updated_at
FROM products p
WHERE p.state = 'PUBLISHED' AND p.id > $1
ORDER BY p.id LIMIT 100`

// BenchmarkPageOfGifts reads pages of a hundred gifts through the gateway and, alternately, the same rows by one SQL
// statement on the same server.
func BenchmarkPageOfGifts(b *testing.B) {
	p := fixture.Start(b)
	db := p.Connect(b, "catalog")
	for _, statement := range []string{fmt.Sprintf(multiply, gifts), `ANALYZE`} {
		_, err := db.Exec(b.Context(), statement)
		require.NoError(b, err)
	}
	edge := newClient(b, p.Env["GIFTING_URL"], newKeyring(b, p.DemoTenant(b)))
	var after, last string
	var byEdge, bySQL time.Duration
	for b.Loop() {
		began := time.Now()
		after = nextPage(b, edge, after)
		between := time.Now()
		last = readPage(b, db, last)
		byEdge, bySQL = byEdge+between.Sub(began), bySQL+time.Since(between)
	}
	b.ReportMetric(fixture.Milliseconds(byEdge)/float64(b.N), "edge-ms/page")
	b.ReportMetric(fixture.Milliseconds(bySQL)/float64(b.N), "sql-ms/page")
	b.ReportMetric(float64(bySQL)/float64(byEdge), "sql/edge")
}

// nextPage reads the page behind a cursor and returns the next cursor, which is empty behind the last page.
func nextPage(b *testing.B, by *client, after string) string {
	b.Helper()
	path := fmt.Sprintf("/catalog/products?country=SE&locale=sv-SE&limit=%d", pageSize)
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	body, err := by.get(path)
	require.NoError(b, err)
	// The cursor is last. To parse the whole page is the integrator's work.
	_, cursor, found := strings.Cut(string(body[max(0, len(body)-200):]), `"nextCursor":`)
	require.True(b, found)
	var next *string
	require.NoError(b, json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(cursor), "}")), &next))
	if next == nil {
		return ""
	}
	return *next
}

// readPage reads the page behind an id and returns its last id, which is empty behind the last page.
func readPage(b *testing.B, db *pgx.Conn, after string) string {
	b.Helper()
	if after == "" {
		after = "00000000-0000-0000-0000-000000000000"
	}
	rows, err := db.Query(b.Context(), pageInSQL, after)
	require.NoError(b, err)
	var id string
	read := 0
	for rows.Next() {
		raw := rows.RawValues()
		read++
		if read == pageSize {
			id = fmt.Sprintf("%x-%x-%x-%x-%x", raw[0][:4], raw[0][4:6], raw[0][6:8], raw[0][8:10], raw[0][10:])
		}
	}
	require.NoError(b, rows.Err())
	return id
}
