package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// statement is a block of SQL whose first line names its database.
var statement = regexp.MustCompile("(?s)```sql\\s+-- ([a-z]+)\n(.*?)```")

// testRunbooks runs the SQL of the runbooks, all of which only reads.
func (p *platform) testRunbooks(t *testing.T) {
	p.ownStack(t, "its databases")
	paths, err := filepath.Glob("../runbooks/*.md")
	require.NoError(t, err)
	ran := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found := statement.FindAllStringSubmatch(string(text), -1)
		require.Len(t, found, strings.Count(string(text), "```sql"), "%s: a statement that names no database", path)
		for _, one := range found {
			p.read(t, one[1], one[2])
			ran++
		}
	}
	require.NotZero(t, ran)
}

// read runs a statement that may not write.
func (p *platform) read(t *testing.T, database, sql string) {
	t.Helper()
	url := strings.Replace(p.config.PostgresURL, "/postgres?", "/"+p.config.Name+"_"+database+"?", 1)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	require.NoError(t, pgx.BeginTxFunc(t.Context(), conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), sql)
		return err
	}), sql)
}
