package migrations_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/migrations"
	// This import embeds every migration. Go's cache of test results does not notice changed files of other modules, but it
	// notices a changed program.
	_ "github.com/partnergifting/platform/deploy/programs"
)

func TestStatementsThatBreakTheRule(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		`DROP TABLE orders`,
		`DROP FUNCTION place(text)`,
		`TRUNCATE orders`,
		`UPDATE orders SET note = ''`,
		`DELETE FROM orders WHERE note = ''`,
		`ALTER TYPE status RENAME VALUE 'a' TO 'b'`,
		`ALTER TABLE orders RENAME TO purchases`,
		`ALTER TABLE orders RENAME COLUMN note TO remark`,
		`ALTER TABLE orders DROP COLUMN note`,
		`ALTER TABLE orders DROP note`,
		`alter table only orders drop column if exists note`,
		`ALTER TABLE orders ALTER COLUMN note TYPE varchar(10)`,
		`ALTER TABLE orders ALTER note SET DATA TYPE text`,
		`ALTER TABLE orders ALTER COLUMN note SET NOT NULL`,
		`ALTER TABLE orders ALTER COLUMN note DROP DEFAULT`,
		`ALTER TABLE orders ADD COLUMN note text NOT NULL`,
		`ALTER TABLE orders ADD note text NOT NULL`,
		`ALTER TABLE orders ADD COLUMN a numeric(10, 2) DEFAULT 0, ADD COLUMN b int NOT NULL`,
		`ALTER TABLE orders ADD COLUMN id2 uuid NOT NULL DEFAULT gen_random_uuid()`,
		`ALTER TABLE orders ADD COLUMN n bigserial`,
		`ALTER TABLE orders ADD CONSTRAINT filled CHECK (note <> '')`,
		`ALTER TABLE orders ADD FOREIGN KEY (a) REFERENCES b (a)`,
		`ALTER TABLE orders ADD CONSTRAINT once UNIQUE (note)`,
		`CREATE INDEX orders_note ON orders (note)`,
		`CREATE UNIQUE INDEX orders_note ON orders (note)`,
		// It runs in a transaction.
		`DROP INDEX CONCURRENTLY IF EXISTS orders_note; CREATE INDEX CONCURRENTLY orders_note ON orders (note)`,
		// It fails if an interrupted build has left the index.
		"-- +goose NO TRANSACTION\nCREATE INDEX CONCURRENTLY orders_note ON orders (note)",
		"-- +goose NO TRANSACTION\nCREATE INDEX CONCURRENTLY IF NOT EXISTS orders_note ON orders (note)",
		"-- +goose NO TRANSACTION\nDROP INDEX CONCURRENTLY IF EXISTS orders_a; CREATE INDEX CONCURRENTLY orders_note ON orders (note)",
		`ALTER TABLE orders ADD COLUMN a int; ALTER TABLE orders ADD COLUMN b int; ALTER TABLE lines ADD COLUMN a int`,
		"-- contract:\nDROP TABLE orders",
		"CREATE TABLE others (id int); DROP TABLE orders",
		"-- contract: it's for one statement\nDROP TABLE a; DROP TABLE b",
	} {
		require.Len(t, migrations.Check("-- +goose Up\n"+sql+";\n-- +goose Down\nDROP TABLE x;"), 1, sql)
	}
}

func TestStatementsThatExpand(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		`CREATE TABLE notes (id int NOT NULL, note text)`,
		`CREATE TABLE notes (id int); CREATE INDEX notes_id ON notes (id); ALTER TABLE notes ADD CHECK (id > 0)`,
		`ALTER TABLE orders ADD COLUMN note text`,
		`ALTER TABLE orders ADD COLUMN note text NOT NULL DEFAULT ''`,
		`ALTER TABLE orders ADD COLUMN note text DEFAULT 'a; DROP TABLE b, c'`,
		`ALTER TABLE orders ALTER COLUMN note DROP NOT NULL, DROP CONSTRAINT filled`,
		`ALTER TABLE orders ALTER COLUMN note SET DEFAULT ''`,
		`ALTER TABLE orders ADD CONSTRAINT filled CHECK (note IS NOT NULL) NOT VALID`,
		`ALTER TABLE orders VALIDATE CONSTRAINT filled`,
		`ALTER TABLE orders ADD CONSTRAINT once UNIQUE USING INDEX orders_note`,
		`ALTER TYPE status ADD VALUE 'c'`,
		`CREATE TABLE notes (id int); ALTER TABLE notes ADD CHECK (id > 0); ALTER TABLE orders ADD COLUMN note text`,
		"-- +goose NO TRANSACTION\nDROP INDEX CONCURRENTLY IF EXISTS orders_note; CREATE INDEX CONCURRENTLY orders_note ON orders (note)",
		"CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $body$ BEGIN UPDATE orders SET a = 1; DELETE FROM b; END $body$",
		"-- Nobody drops it; DROP TABLE orders\nCREATE TABLE a (id int)",
		"-- contract: read by no version since 1.4\nALTER TABLE orders DROP COLUMN note",
		"CREATE TABLE a (id int)\n;\n-- Why.\n-- contract: it's empty\nDROP TABLE orders",
	} {
		require.Empty(t, migrations.Check("-- +goose Up\n"+sql+";\n-- +goose Down\nDROP TABLE x;"), sql)
	}
}

func TestEveryMigrationFollowsTheRule(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	for _, pattern := range []string{"pkg/*/migrations/*.sql", "services/*/internal/*/migrations/*.sql"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Empty(t, migrations.Check(string(text)), "%s\nsee the documentation of package migrations",
				strings.TrimPrefix(file, root))
		}
	}
}
