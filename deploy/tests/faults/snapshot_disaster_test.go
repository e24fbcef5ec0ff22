//go:build faults

package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const (
	// snapshotHeld is how long the snapshot is open before its effect is measured.
	snapshotHeld = 15 * time.Second
	// measuredFor is how long the pages of statements are counted.
	measuredFor = 5 * time.Second
	// pagesFactor and pagesMore bound how many more pages a statement may touch under the snapshot. Without a low-water mark, a
	// read touches every row that has come and gone since.
	pagesFactor, pagesMore = 3, 30
)

// flatStatements are parts of the statements that must not become slower while an old snapshot is open: the relay's reads and
// deletes, and the claims of deliveries.
var flatStatements = map[string]string{
	"the relay's read":   "%unnest($3::bigint[], $4::bigint[]) AS gap%",
	"the relay's delete": "DELETE FROM outbox%",
	"the claims' locks":  "%set_config('claim.locked'%",
	"the claims":         "%current_setting('claim.locked'%",
}

// openSnapshot holds a snapshot of all databases open, as a backup does. It compares the pages that statements touch before and
// under the snapshot, not their times: a busy machine does not change them.
func openSnapshot() disaster {
	var before map[string]float64
	return disaster{
		name: "a snapshot held open",
		options: options{settings: []string{
			"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=10000", "pg_stat_statements.track_planning=off",
		}},
		prepare: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.exec(ctx, t, d.urlOf(t, "orders"), "CREATE EXTENSION pg_stat_statements")
			before = d.pages(ctx, t)
			for _, database := range []string{"orders", "links", "events", "webhook"} {
				tx, err := d.connect(t, database).BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
				require.NoError(t, err)
				_, err = tx.Exec(ctx, "SELECT count(*) FROM pg_class")
				require.NoError(t, err)
			}
		},
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			sleep(ctx, snapshotHeld)
			for name, pages := range d.pages(ctx, t) {
				d.printf("%s touches %.1f pages, %.1f before the snapshot", name, pages, before[name])
				d.require(pages <= pagesFactor*before[name]+pagesMore, flat, d.prepared, time.Now(),
					"%s touches %.1f pages under a snapshot, %.1f before", name, pages, before[name])
			}
		},
	}
}

// pages returns how many pages a call of each statement touches, for a while from now on.
func (d *drill) pages(ctx context.Context, t *testing.T) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	withConn(ctx, t, d.urlOf(t, "orders"), func(conn *pgx.Conn) {
		_, err := conn.Exec(ctx, "SELECT pg_stat_statements_reset()")
		require.NoError(t, err)
		sleep(ctx, measuredFor)
		for name, pattern := range flatStatements {
			var calls int
			var pages float64
			require.NoError(t, conn.QueryRow(ctx, `SELECT coalesce(sum(calls), 0),
				coalesce(sum(shared_blks_hit + shared_blks_read) / sum(calls), 0)::float8
				FROM pg_stat_statements WHERE query LIKE $1 AND query NOT LIKE '%pg_stat_statements%'`, pattern).Scan(&calls, &pages))
			require.NotZero(t, calls, name)
			found[name] = pages
		}
	})
	return found
}
