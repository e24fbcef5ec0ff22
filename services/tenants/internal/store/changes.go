package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

// Changes are the tenants that have changed between two moments.
type Changes struct {
	// Until is the second moment, for the next call.
	Until string
	// Any means that any tenant may have changed.
	Any bool
	// Versions of the tenants that have changed, by id.
	Versions map[string]int64
}

// maxChanges bounds a list of changes.
const maxChanges = 1000

// A moment is the server and the oldest transaction that was in progress. A change that a statement at that moment did not see is
// of this transaction or of a later one, which is in xmin: every change of a tenant or of its keys updates the row of the tenant. A
// transaction that stays in progress, in any database of the server, makes the list longer. age() is negative for rows that changed
// more than two thousand million transactions ago.
const selectChanges = `WITH moment AS MATERIALIZED (
  SELECT ` + postgres.ServerStart + ` AS server, pg_snapshot_xmin(pg_current_snapshot())::text AS oldest
)
SELECT m.server, m.oldest, t.id::text, t.version
  FROM moment m LEFT JOIN tenants t ON m.server = $1 AND age(t.xmin) BETWEEN 0 AND age($2::text::xid8::xid)
 LIMIT $3`

// ChangesSince returns the tenants that have changed since an earlier moment. What is not such a moment of this server is one
// since which any tenant may have changed.
func (s *Store) ChangesSince(ctx context.Context, moment string) (Changes, error) {
	server, oldest, _ := strings.Cut(moment, " ")
	if _, err := strconv.ParseUint(oldest, 10, 64); err != nil {
		server, oldest = "", "0"
	}
	rows, err := s.pool.Query(ctx, selectChanges, server, oldest, maxChanges+1)
	if err != nil {
		return Changes{}, fmt.Errorf("changes of tenants: %w", err)
	}
	changes := Changes{Versions: map[string]int64{}}
	var (
		serverNow, oldestNow string
		tenant               *string
		version              *int64
	)
	if _, err := pgx.ForEachRow(rows, []any{&serverNow, &oldestNow, &tenant, &version}, func() error {
		if tenant != nil {
			changes.Versions[*tenant] = *version
		}
		return nil
	}); err != nil {
		return Changes{}, fmt.Errorf("changes of tenants: %w", err)
	}
	changes.Until = serverNow + " " + oldestNow
	if changes.Any = serverNow != server || len(changes.Versions) > maxChanges; changes.Any {
		changes.Versions = nil
	}
	return changes, nil
}
