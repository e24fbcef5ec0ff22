package bench_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	gifts    = 20_000
	pageSize = 100
	// apiKeys share the rate limit of 300 requests a minute each.
	apiKeys = 40
)

// multiply copies the demo's gifts until there are $1, with their prices.
const multiply = `WITH made AS (
  INSERT INTO products (id, state, published_once, name, description, translations, variations, categories, available_countries,
    image_file_ids, customization_available, gift_set, ready_to_send, updated_at)
  SELECT gen_random_uuid(), state, published_once, name, description, translations, variations, categories, available_countries,
    image_file_ids, customization_available, gift_set, ready_to_send, updated_at
  FROM products CROSS JOIN generate_series(1, $1) AS n WHERE state = 'PUBLISHED' LIMIT $1 RETURNING id
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

// BenchmarkPageOfGifts reads pages of a hundred gifts through the gateway and, in turn, the same rows by one SQL
// statement on the same server.
func BenchmarkPageOfGifts(b *testing.B) {
	db, env := start(b, "catalog")
	_, err := db.Exec(b.Context(), multiply, gifts)
	require.NoError(b, err)
	_, err = db.Exec(b.Context(), `ANALYZE`)
	require.NoError(b, err)
	keys := makeKeys(b, env)
	edge := &pager{base: env["GIFTING_URL"] + fmt.Sprintf("/catalog/products?country=SE&locale=sv-SE&limit=%d", pageSize), keys: keys}
	var last string
	var byEdge, bySQL time.Duration
	for b.Loop() {
		begin := time.Now()
		edge.next(b)
		between := time.Now()
		last = readPage(b, db, last)
		byEdge, bySQL = byEdge+between.Sub(begin), bySQL+time.Since(between)
	}
	b.ReportMetric(float64(byEdge.Microseconds())/float64(b.N)/1000, "edge-ms/page")
	b.ReportMetric(float64(bySQL.Microseconds())/float64(b.N)/1000, "sql-ms/page")
	b.ReportMetric(float64(bySQL)/float64(byEdge), "sql/edge")
}

// pager reads page after page and begins again behind the last.
type pager struct {
	base   string
	keys   []string
	after  string
	served int
}

func (p *pager) next(b *testing.B) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, p.base+p.after, http.NoBody)
	require.NoError(b, err)
	req.Header.Set("Authorization", "Bearer "+p.keys[p.served%len(p.keys)])
	p.served++
	res, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(b, err)
	require.NoError(b, res.Body.Close())
	require.Equal(b, http.StatusOK, res.StatusCode, string(body))
	// The cursor stands last; reading the whole page is the integrator's work.
	_, cursor, found := strings.Cut(string(body[max(0, len(body)-200):]), `"nextCursor":`)
	require.True(b, found)
	var next *string
	require.NoError(b, json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(cursor), "}")), &next))
	p.after = ""
	if next != nil {
		p.after = "&after=" + url.QueryEscape(*next)
	}
}

// readPage reads the page behind an id and gives the last id of it, or none behind the last page.
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

func makeKeys(b *testing.B, env map[string]string) (keys []string) {
	b.Helper()
	operations := tenantsv1.NewTenantOperationsServiceClient(dial(b, env, "GIFTING_GRPC_TENANTS"))
	for range apiKeys {
		made, err := operations.CreateKey(b.Context(), &tenantsv1.CreateKeyRequest{
			TenantId: seed.Direct, Name: "benchmark", Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_CATALOG}, AllBrands: true,
		})
		require.NoError(b, err)
		keys = append(keys, made.GetApiKey())
	}
	return keys
}
