package e2e_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// testPersonalData looks for the marked values in every row of every table.
func (s stack) testPersonalData(t *testing.T) {
	for _, database := range local.Databases(s.Config.Name) {
		name := strings.TrimPrefix(database, s.Config.Name+"_")
		t.Run(name+" keeps no personal data in clear", func(t *testing.T) {
			conn := s.connect(t, name)
			query := func(sql string) []string {
				rows, err := conn.Query(t.Context(), sql)
				require.NoError(t, err)
				texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
				require.NoError(t, err)
				return texts
			}
			seen := 0
			for _, table := range query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") {
				for _, row := range query("SELECT t::text FROM " + pgx.Identifier{table}.Sanitize() + " t") {
					harness.RequireNoPersonalData(t, row)
					seen++
				}
			}
			require.NotZero(t, seen)
		})
	}
}

// connect connects to a database of the stack by the name of its service.
func (s stack) connect(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	address := strings.Replace(s.Config.PostgresURL, "/postgres?", "/"+s.Config.Name+"_"+name+"?", 1)
	require.NotEqual(t, s.Config.PostgresURL, address)
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(t.Context())) })
	return conn
}
