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

// runbooks returns the pages of deploy/runbooks.
func runbooks(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../runbooks/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

// statement is a block of SQL whose first line names its database.
var statement = regexp.MustCompile("(?s)```sql\\s+-- ([a-z]+)\n(.*?)```")

// testRunbooks runs the SQL of the runbooks in transactions that may not write.
func (s stack) testRunbooks(t *testing.T) {
	ran := 0
	for _, path := range runbooks(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found := statement.FindAllStringSubmatch(string(text), -1)
		require.Len(t, found, strings.Count(string(text), "```sql"), "%s: a statement names no database", path)
		for _, one := range found {
			readOnly := pgx.TxOptions{AccessMode: pgx.ReadOnly}
			require.NoError(t, pgx.BeginTxFunc(t.Context(), s.connect(t, one[1]), readOnly, func(tx pgx.Tx) error {
				_, err := tx.Exec(t.Context(), one[2])
				return err
			}), one[2])
			ran++
		}
	}
	require.NotZero(t, ran)
}
