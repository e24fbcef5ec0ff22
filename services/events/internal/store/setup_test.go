package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

var (
	today   = time.Date(2026, 3, 10, 15, 4, 5, 0, time.UTC)
	tenantA = uuid.NewString()
	tenantB = uuid.NewString()
	brand   = uuid.NewString()
	all     = Filter{Orders: true, PersonalLinks: true, AllBrands: true, KeyID: 1}
)

const retention = 30 * 24 * time.Hour

func setup(t *testing.T) *Store {
	t.Helper()
	return at(today, New(pgtest.New(t, Migrations())))
}

// at sets the store's clock.
func at(now time.Time, s *Store) *Store {
	s.clock = func() time.Time { return now }
	return s
}

// changes makes n changes of a tenant, with offsets from the given one on.
func changes(tenant string, offset int64, n int) []Change {
	out := make([]Change, n)
	for i := range out {
		out[i] = Change{
			Offset: offset + int64(i), ID: uuid.NewString(), Type: "order.created", TenantID: tenant, BrandID: brand,
			SubjectID: uuid.NewString(), OccurredAt: today, RecordedAt: today, Data: fmt.Appendf(nil, `{"n": %d}`, i),
		}
	}
	return out
}

// dated is a batch and the time when it arrives.
type dated struct {
	Batch
	now time.Time
}

func batch(partition int, now time.Time, c []Change) dated {
	return dated{Batch: Batch{Partition: partition, Changes: c, Retention: retention}, now: now}
}

func appendAll(t *testing.T, s *Store, b dated) Appended {
	t.Helper()
	done, err := at(b.now, s).Append(t.Context(), b.Batch)
	require.NoError(t, err)
	return done
}

// feedOf reads a tenant's whole feed.
func feedOf(t *testing.T, s *Store, tenant string) []Row {
	t.Helper()
	rows, _, err := s.Scan(t.Context(), tenant, Position{}, all, 10_000)
	require.NoError(t, err)
	return rows
}

func ids(rows []Row) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}

func idsOf(c ...[]Change) []string {
	out := []string{}
	for _, part := range c {
		for _, ch := range part {
			out = append(out, ch.ID)
		}
	}
	return out
}

func partitions(t *testing.T, s *Store) []time.Time {
	t.Helper()
	days, err := s.listDays(t.Context())
	require.NoError(t, err)
	return days
}

// explain runs a statement with a plan for any parameters, as the server does after a few executions.
func explain(t *testing.T, s *Store, sql string, args ...string) string {
	t.Helper()
	var plan []string
	err := s.pool.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error {
		ctx := context.Background()
		for _, q := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE probe AS " + sql} {
			if _, err := c.Exec(ctx, q); err != nil {
				return err
			}
		}
		rows, err := c.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS) EXECUTE probe("+strings.Join(args, ",")+")",
			pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return err
		}
		if plan, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			return err
		}
		_, err = c.Exec(ctx, "DEALLOCATE probe")
		return err
	})
	require.NoError(t, err)
	return strings.Join(plan, "\n")
}
