package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/testenv"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

var (
	today   = time.Date(2026, 3, 10, 15, 4, 5, 0, time.UTC)
	tenantA = uuid.NewString()
	tenantB = uuid.NewString()
	brand   = uuid.NewString()
	all     = Filter{Orders: true, PersonalLinks: true, AllBrands: true, KeyID: 1}
)

// partitionCount is how many partitions are read in a test.
const partitionCount = 12

const retention = 30 * 24 * time.Hour

func TestMain(m *testing.M) { testenv.AtMidnightToo(m, &today) }

func setup(t *testing.T) *Store {
	t.Helper()
	s := at(today, New(pgtest.New(t, Migrations())))
	for partition := range partitionCount {
		require.NoError(t, Offsets{s}.Move(t.Context(), partition, nothingStored, 0))
	}
	return s
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
		out[i] = Change{offset + int64(i), &eventsv1.Change{
			EventId: uuid.NewString(), Type: "order.created", TenantId: tenant, BrandId: brand, SubjectId: uuid.NewString(),
			OccurredAt: timestamppb.New(today), RecordedAt: timestamppb.New(today), Data: fmt.Appendf(nil, `{"n": %d}`, i),
		}}
	}
	return out
}

func batch(partition int, c []Change) Batch {
	return Batch{Partition: partition, Changes: c, Retention: retention}
}

func appendAt(t *testing.T, s *Store, now time.Time, b Batch) Appended {
	t.Helper()
	done, err := at(now, s).Append(t.Context(), b)
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
	return postgres.Column(rows, func(r Row) string { return r.ID })
}

func idsOf(c ...[]Change) []string {
	return postgres.Column(slices.Concat(c...), func(c Change) string { return c.GetEventId() })
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
	conn, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	exec := func(sql string) {
		pgtest.Exec(t, conn, sql)
	}
	exec("SET plan_cache_mode = force_generic_plan")
	exec("PREPARE probe AS " + sql)
	rows, err := conn.Query(t.Context(), "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS) EXECUTE probe("+
		strings.Join(args, ",")+")", pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	exec("DEALLOCATE probe")
	return strings.Join(plan, "\n")
}
