package store

import (
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

const insertClaimed = `INSERT INTO orders (tenant_id, id, reference, source, brand_id, personal_link_id, status, item_kind,
  product_id, product_name, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT '` + bigTenant + `', id::uuid, id, 'PERSONAL_LINK', '` + bigBrand + `', link::uuid, 'PROCESSING', 'CATALOG',
  gen_random_uuid(), 'Mug', 'SE', false, '\x01', at, at
FROM (VALUES
  ('0198f2e4-0000-7000-8000-00000000000b', '0198f2e4-0000-7000-8000-0000000000b1', timestamptz '2026-01-02'),
  ('0198f2e4-0000-7000-8000-00000000000a', '0198f2e4-0000-7000-8000-0000000000b1', '2026-01-03'),
  ('0198f2e4-0000-7000-8000-00000000000c', '0198f2e4-0000-7000-8000-0000000000b1', '2026-01-04'),
  ('0198f2e4-0000-7000-8000-00000000000d', '0198f2e4-0000-7000-8000-0000000000b2', '2026-01-05'),
  ('0198f2e4-0000-7000-8000-00000000000e', NULL, '2026-01-06')) AS o (id, link, at)`

// before returns the schema without the constraint.
func before(t *testing.T) postgres.Migrations {
	t.Helper()
	older := fstest.MapFS{}
	for name, file := range allFiles(t) {
		if name < "00009" {
			older[name] = file
		}
	}
	return postgres.Migrations{Owner: Migrations().Owner, Files: older}
}

func allFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	found := fstest.MapFS{}
	names, err := fs.Glob(Migrations().Files, "*.sql")
	require.NoError(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(Migrations().Files, name)
		require.NoError(t, err)
		found[name] = &fstest.MapFile{Data: text}
	}
	return found
}

func TestTheConstraintOfLinksAcceptsAndMarksOlderOrders(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, before(t))
	_, err := pool.Exec(t.Context(), insertClaimed)
	require.NoError(t, err)
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: pool.Config().ConnString()}, io.Discard, Migrations()))
	rows, err := pool.Query(t.Context(), "SELECT right(id::text, 1) FROM orders WHERE link_repeated ORDER BY id")
	require.NoError(t, err)
	marked, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, marked, "all but the first order of a link")

	_, err = pool.Exec(t.Context(), "UPDATE orders SET link_repeated = false")
	constraint, violated := postgres.UniqueViolation(err)
	require.True(t, violated)
	require.Equal(t, "orders_personal_link", constraint)
}

// Each attempt to make an index may fail, as when a second order is placed meanwhile. The next attempt must succeed.
func TestTheConstraintOfLinksIsMadeAfterAFailedAttempt(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, before(t))
	_, err := pool.Exec(t.Context(), insertClaimed)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `CREATE UNIQUE INDEX CONCURRENTLY orders_personal_link ON orders (tenant_id, personal_link_id)`)
	require.Error(t, err, "which leaves an invalid index behind")
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: pool.Config().ConnString()}, io.Discard, Migrations()))
	var valid bool
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT indisvalid FROM pg_index WHERE indexrelid = 'orders_personal_link'::regclass").Scan(&valid))
	require.True(t, valid)
}
