package harness

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// The personal data of every test. They must appear only in encrypted columns.
const (
	MarkedName   = "Zebedee Quillfeather"
	MarkedPhone  = "+46701112233"
	MarkedEmail  = "zebedee.quillfeather@example.org"
	MarkedStreet = "Kattfotsgränd 987"
)

// FindPersonalData returns a marked value that the text has, in clear or as the database shows bytes.
func FindPersonalData(text string) string {
	for _, marked := range []string{MarkedName, MarkedPhone, MarkedEmail, MarkedStreet} {
		if strings.Contains(text, marked) || strings.Contains(text, hex.EncodeToString([]byte(marked))) {
			return marked
		}
	}
	return ""
}

// RequireNoPersonalData checks that the text has none of the marked values.
func RequireNoPersonalData(t *testing.T, text string) {
	t.Helper()
	if marked := FindPersonalData(text); marked != "" {
		require.NotContains(t, text, marked)
		require.Fail(t, "the bytes of "+marked, text)
	}
}

// Rows returns every row of every table of a database as text.
func Rows(t *testing.T, conn *pgx.Conn) (rows []string) {
	t.Helper()
	query := func(sql string) []string {
		found, err := conn.Query(t.Context(), sql)
		require.NoError(t, err)
		texts, err := pgx.CollectRows(found, pgx.RowTo[string])
		require.NoError(t, err)
		return texts
	}
	for _, table := range query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") {
		rows = append(rows, query("SELECT t::text FROM "+pgx.Identifier{table}.Sanitize()+" t")...)
	}
	require.NotEmpty(t, rows)
	return rows
}

// OrderOf is the body of an order of the gift for the brand.
func OrderOf(product, brand string) map[string]any {
	return map[string]any{
		"externalOrderId": "e2e-" + rand.Text(),
		"brandId":         brand,
		"items":           []any{map[string]any{"productId": product}},
		"client":          map[string]any{"name": MarkedName, "email": MarkedEmail},
		"recipient": map[string]any{
			"name": MarkedName, "phone": MarkedPhone, "email": MarkedEmail,
			"address": map[string]any{"street": MarkedStreet, "city": "Visby", "postalCode": "621 57", "country": "SE"},
		},
	}
}

// Order is the body of an order for the demo's gift, after the changes.
func (p *Platform) Order(t *testing.T, changes ...func(order map[string]any)) string {
	t.Helper()
	order := OrderOf(p.Env["GIFTING_PRODUCT_ID"], p.Env["GIFTING_BRAND_ID"])
	for _, change := range changes {
		change(order)
	}
	return JSON(t, order)
}

// Batch is the body of a batch that makes one link to the demo's gift, after the changes.
func (p *Platform) Batch(t *testing.T, changes ...func(batch map[string]any)) string {
	t.Helper()
	batch := map[string]any{
		"brandId": p.Env["GIFTING_BRAND_ID"], "productIds": []any{p.Env["GIFTING_PRODUCT_ID"]},
		"recipients": []any{map[string]any{"label": MarkedName}},
	}
	for _, change := range changes {
		change(batch)
	}
	return JSON(t, batch)
}

// Page reads a page of a list and the cursor of the next, which is empty after the last.
func (p *Platform) Page(t *testing.T, key, path string) (items []map[string]any, next string) {
	t.Helper()
	a := p.Get(t, key, path)
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	var page struct {
		Items      []map[string]any
		NextCursor *string
	}
	require.NoError(t, json.Unmarshal([]byte(a.Body), &page), a.Body)
	return page.Items, *cmp.Or(page.NextCursor, new(string))
}

// All follows the pages of a list whose query is not empty.
func (p *Platform) All(t *testing.T, key, first string) (out []map[string]any) {
	t.Helper()
	for path := first; ; {
		items, next := p.Page(t, key, path)
		out = append(out, items...)
		if next == "" {
			return out
		}
		path = first + "&after=" + next
	}
}

// Array reads a list that has no pages.
func (p *Platform) Array(t *testing.T, key, path string) (items []map[string]any) {
	t.Helper()
	a := p.Get(t, key, path)
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	require.NoError(t, json.Unmarshal([]byte(a.Body), &items), a.Body)
	return items
}
