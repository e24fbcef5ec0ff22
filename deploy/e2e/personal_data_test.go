package e2e_test

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
)

// Marked values stand for personal data: they must appear nowhere outside the sealed column.
const (
	markedName   = "Zebedee Quillfeather"
	markedPhone  = "+46701112233"
	markedEmail  = "zebedee.quillfeather@example.org"
	markedStreet = "Kattfotsgränd 987"
)

func requireNoPersonalData(t *testing.T, text string) {
	t.Helper()
	for _, marked := range []string{markedName, markedPhone, markedEmail, markedStreet} {
		require.NotContains(t, text, marked)
		require.NotContains(t, text, hex.EncodeToString([]byte(marked)))
	}
}

// testPersonalData looks for the marked values in all that the platform keeps.
func (p *platform) testPersonalData(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	for _, status := range []int{http.StatusCreated, http.StatusUnprocessableEntity} {
		a := p.post(t, key, "/orders", p.order(t, func(order map[string]any) {
			order["courierComment"], order["additionalDetails"] = markedName, markedStreet
			if status != http.StatusCreated {
				delete(order, "brandId")
			}
		}))
		require.Equal(t, status, a.status, a.body)
		requireNoPersonalData(t, a.body)
	}
	p.ownStack(t, "its databases")
	for _, database := range local.Databases(p.config.Name) {
		t.Run(database[len(p.config.Name)+1:]+" keeps no personal data in clear", func(t *testing.T) {
			rows := allRows(t, p.config.PostgresURL, database)
			require.NotEmpty(t, rows)
			for _, row := range rows {
				requireNoPersonalData(t, row)
			}
		})
	}
}

// allRows gives every row of every table of the database as text.
func allRows(t *testing.T, server, database string) []string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + database
	conn, err := pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	query := func(sql string) []string {
		rows, err := conn.Query(t.Context(), sql)
		require.NoError(t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return texts
	}
	var out []string
	for _, table := range query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") {
		out = append(out, query("SELECT t::text FROM "+pgx.Identifier{table}.Sanitize()+" t")...)
	}
	return out
}
