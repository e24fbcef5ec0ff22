package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

func TestTheEndIsBeforeWhatFollowsWhateverTheClock(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]int64{"after events": 3, "without events": 0} {
		t.Run(name, func(t *testing.T) {
			s := setup(t)
			appendAt(t, s, today, batch(0, changes(tenantA, 0, int(stored))))
			at(today.AddDate(0, 0, 40), s) // For a while the clock is ahead.
			end, err := s.End(t.Context(), tenantA)
			require.NoError(t, err)
			in := changes(tenantA, stored, 1)
			appendAt(t, s, today, batch(0, in))
			rows, _, err := s.Scan(t.Context(), tenantA, end, Filter{Everything: true}, 10)
			require.NoError(t, err)
			require.Equal(t, idsOf(in), ids(rows))
		})
	}
	s := setup(t)
	end, err := s.End(t.Context(), tenantB)
	require.NoError(t, err)
	require.False(t, end.Day.After(today))
}

func TestScanPlan(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const days, perDay, lastDay = 6, 100, 3000
	for d := range days {
		day, n := today.AddDate(0, 0, d), perDay
		if d == days-1 {
			n = lastDay
		}
		appendAt(t, s, day, batch(0, changes(tenantA, int64(d*perDay), n)))
		appendAt(t, s, day, batch(1, changes(tenantB, int64(d*perDay), perDay)))
	}
	pgtest.Exec(t, s.pool, "ANALYZE feed")
	rows := feedOf(t, s, tenantA)
	plan := func(after Position) string {
		return explain(t, s, scan, quote(tenantA), quote(after.Day.Format("2006-01-02")), fmt.Sprint(after.Number), "50",
			"true", "true", "true", "'{}'", "1", "false")
	}

	t.Run("days before the cursor are not read", func(t *testing.T) {
		p := plan(rows[4*perDay].Position)
		t.Log(p)
		require.Contains(t, p, "Subplans Removed: 4")
		require.NotContains(t, p, "Seq Scan")
		require.NotContains(t, p, "Rows Removed by Filter")
	})

	t.Run("a poll at the end of a busy day reads no row of it", func(t *testing.T) {
		p := plan(rows[len(rows)-1].Position)
		t.Log(p)
		require.Regexp(t, `Index Scan using feed_20260315_\S+ on feed_20260315 \S+ \(never executed\)`, p)
		require.Regexp(t, `^Sub.*\n +Buffers: shared hit=[1-4]\n`, p, "only the tenant's last position is read")
	})
}

func quote(s string) string { return "'" + s + "'" }

func TestEventsOfOrdersAreThoseOfTheirTenant(t *testing.T) {
	t.Parallel()
	s := setup(t)
	in := changes(tenantA, 0, 2)
	appendAt(t, s, today, batch(0, in))
	appendAt(t, s, today, batch(1, changes(tenantB, 0, 1)))
	page, err := s.OrderEvents(t.Context(), OrderEventsFrom{TenantID: tenantA, Day: Day(today), Limit: 10})
	require.NoError(t, err)
	require.Equal(t, postgres.Column(in, func(c Change) string { return c.GetSubjectId() }),
		postgres.Column(page.Events, func(e OrderEvent) string { return e.OrderID }))
}
