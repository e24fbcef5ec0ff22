package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// keyLog returns all pages of a query.
func (f *fixture) keyLog(t *testing.T, q KeyLogQuery) (events []string, pages int) {
	t.Helper()
	for {
		page, err := f.KeyLog(t.Context(), q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Deliveries), q.Limit)
		for _, d := range page.Deliveries {
			events = append(events, d.EventID)
		}
		if pages++; page.Next == "" {
			return events, pages
		}
		require.True(t, q.Before == "" || page.Next < q.Before, "a cursor moves on")
		q.Before = page.Next
	}
}

var own = Endpoint{TenantID: tenantA, KeyID: 1}

// fill stores deliveries of key 1 and as many of key 2. state is that of a delivery, and eventType that of its event, as SQL with n
// from 1 on.
func (f *fixture) fill(t *testing.T, number int, state, eventType string) {
	t.Helper()
	const step = 5000 // Each statement is short, also on a busy machine.
	for first := 1; first <= number; first += step {
		pgtest.Exec(t, f.pool, `
WITH n AS (SELECT n, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id FROM generate_series($1::int, $4::int) n),
e AS (
  INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
  SELECT $2, id, `+eventType+`, $2, id, '{}', $3 FROM n)
INSERT INTO deliveries (tenant_id, event_id, key_id, state, attempts, next_attempt_at, created_at, finished_at)
SELECT $2, id, key, state, CASE WHEN state = 'PENDING' THEN 1 ELSE 8 END,
       CASE WHEN state = 'PENDING' THEN $3::timestamptz + interval '1 hour' END, $3,
       CASE WHEN state <> 'PENDING' THEN $3::timestamptz END
  FROM (SELECT id, key, `+state+` AS state FROM n CROSS JOIN generate_series(1, 2) key) d`,
			first, tenantA, f.now, min(number, first+step-1))
	}
}

// eventNumber is the id of an event that fill stores.
func eventNumber(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", n) }

func TestTheLogOfAKeyIsPagedNewestFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var events []string
	for range 7 {
		events = append(events, f.addEvent(t, tenantA, noon, 1, 2))
		f.addEvent(t, tenantB, noon, 1)
	}
	slices.Reverse(events)
	got, pages := f.keyLog(t, KeyLogQuery{Endpoint: own, Limit: 3})
	require.Equal(t, events, got)
	require.Equal(t, 3, pages)
	got, pages = f.keyLog(t, KeyLogQuery{Endpoint: own, Limit: 7})
	require.Equal(t, events, got)
	require.Equal(t, 1, pages, "a full page is the last if nothing follows")
	got, _ = f.keyLog(t, KeyLogQuery{Endpoint: own, Limit: 3, EventID: &events[4]})
	require.Equal(t, events[4:5], got)
	got, _ = f.keyLog(t, KeyLogQuery{Endpoint: own, Limit: 3, Since: events[4]})
	require.Equal(t, events[:5], got)
	got, _ = f.keyLog(t, KeyLogQuery{Endpoint: Endpoint{TenantID: tenantA, KeyID: 3}, Limit: 3})
	require.Empty(t, got)
}

func TestAnEntryOfTheLogHasItsLastAttempts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	event := f.addEvent(t, tenantA, noon, 1)
	for range 10 {
		for _, d := range f.claim(t, f.now, 10, 10) {
			require.NoError(t, f.record(t, d, failed, 500))
		}
		require.NoError(t, f.Resend(t.Context(), own, event))
	}
	page, err := f.KeyLog(t.Context(), KeyLogQuery{Endpoint: own, Limit: 1})
	require.NoError(t, err)
	require.Len(t, page.Deliveries, 1)
	var numbers []int32
	for _, a := range page.Deliveries[0].Attempts {
		require.EqualValues(t, 500, *a.ResponseStatus)
		numbers = append(numbers, a.Number)
	}
	require.Equal(t, []int32{3, 4, 5, 6, 7, 8, 9, 10}, numbers, "the last eight, the oldest first")
	require.Equal(t, "order.created", page.Deliveries[0].EventType)
	require.NotNil(t, page.Deliveries[0].NextAttemptAt)
}

func TestTheLogOfAKeyByStateAndType(t *testing.T) {
	t.Parallel()
	for name, mix := range map[string]string{
		"mixed": `(ARRAY['PENDING','DELIVERED','FAILED','DROPPED'])[n % 4 + 1]`,
		"of a dead server": `CASE WHEN n = 7 THEN 'DELIVERED' WHEN n > 11000 THEN 'DROPPED'
			WHEN n > 10800 THEN 'FAILED' ELSE 'PENDING' END`,
		"of a good server": `CASE WHEN n = 7 THEN 'PENDING' WHEN n = 8 THEN 'FAILED' WHEN n = 9 THEN 'DROPPED' ELSE 'DELIVERED' END`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t)
			const number = 11_100
			f.fill(t, number, mix, `CASE WHEN n % 100 = 0 THEN 'order.updated' ELSE 'order.created' END`)
			rows, err := f.pool.Query(t.Context(), `
SELECT ARRAY[d.event_id::text, d.state, e.type] FROM deliveries d JOIN events e USING (tenant_id, event_id)
 WHERE d.key_id = 1 ORDER BY d.event_id DESC`)
			require.NoError(t, err)
			all, err := pgx.CollectRows(rows, pgx.RowTo[[]string])
			require.NoError(t, err)
			for _, state := range []rules.State{"", rules.Pending, rules.Delivered, rules.Failed, rules.Dropped} {
				for _, eventType := range []string{"", "order.updated", "personal_link.claimed"} {
					var want []string
					for _, r := range all {
						if (state == "" || string(state) == r[1]) && (eventType == "" || eventType == r[2]) {
							want = append(want, r[0])
						}
					}
					q := KeyLogQuery{Endpoint: own, State: state, Limit: 100}
					if eventType != "" {
						q.Type = &eventType
					}
					got, pages := f.keyLog(t, q)
					require.Equal(t, want, got, "%s %s", state, eventType)
					require.LessOrEqual(t, pages, 2+len(want)/100)
				}
			}
		})
	}
}

func TestAPageEndsWhenItHasReadEnough(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.fill(t, maxScan+1, `'DELIVERED'`, `CASE WHEN n = 1 THEN 'order.updated' ELSE 'order.created' END`)
	rare := "order.updated"
	first, err := f.KeyLog(t.Context(), KeyLogQuery{Endpoint: own, Type: &rare, Limit: 10})
	require.NoError(t, err)
	require.Empty(t, first.Deliveries)
	require.Equal(t, eventNumber(2), first.Next)
	second, err := f.KeyLog(t.Context(), KeyLogQuery{Endpoint: own, Type: &rare, Limit: 10, Before: first.Next})
	require.NoError(t, err)
	require.Equal(t, eventNumber(1), second.Deliveries[0].EventID)
	require.Empty(t, second.Next)
}

// asServed are the settings of the service's connections, see webhook.New.
const asServed = `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL plan_cache_mode = force_generic_plan`

// blocksOf is how many blocks of tables and indexes a page reads. It is planned for its arguments.
func (f *fixture) blocksOf(t *testing.T, q KeyLogQuery, few bool) (blocks int) {
	t.Helper()
	sql, args := keyLogStatement(q, few)
	require.NoError(t, pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), asServed); err != nil {
			return err
		}
		var plan []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, args...).Scan(&plan)
		if err == nil {
			blocks = plan[0].Plan.Hit + plan[0].Plan.Read
		}
		return err
	}))
	return blocks
}

// fetched is how many deliveries a statement reads with the plan that serves any arguments.
func (f *fixture) fetched(t *testing.T, sql string, args []any) (rows int) {
	t.Helper()
	require.NoError(t, pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		// It also counts what earlier transactions of the connection have not yet reported.
		const counted = `SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'deliveries'`
		var before int
		_, err := tx.Exec(t.Context(), asServed)
		require.NoError(t, err)
		require.NoError(t, tx.QueryRow(t.Context(), counted).Scan(&before))
		_, err = tx.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
		require.NoError(t, tx.QueryRow(t.Context(), counted).Scan(&rows))
		rows -= before
		return nil
	}))
	return rows
}

func TestAPageReadsLittleOfALargeLog(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	const number = 60_000
	f.fill(t, number, `CASE WHEN n IN (7, 30007) THEN 'PENDING' WHEN n IN (8, 30008) THEN 'FAILED' ELSE 'DELIVERED' END`,
		`CASE WHEN n IN (9, 55000) THEN 'order.updated' ELSE 'order.created' END`)
	pgtest.Exec(t, f.pool, "VACUUM ANALYZE deliveries, events")
	event, rare := eventNumber(9), "order.updated"
	const page, scan = 2500, 90_000 // Blocks that a page of 100 and one that is passed over may read.
	for name, c := range map[string]struct {
		query KeyLogQuery
		most  int
	}{
		"any":               {KeyLogQuery{}, page},
		"delivered":         {KeyLogQuery{State: rules.Delivered}, page},
		"none, dropped":     {KeyLogQuery{State: rules.Dropped}, page},
		"rare, pending":     {KeyLogQuery{State: rules.Pending}, page},
		"one of no type":    {KeyLogQuery{EventID: &event, Type: new("order.created")}, page},
		"a rare type":       {KeyLogQuery{Type: &rare}, scan},
		"a failure, a type": {KeyLogQuery{State: rules.Failed, Type: &rare}, page},
	} {
		t.Run(name, func(t *testing.T) {
			c.query.Endpoint, c.query.Limit = own, 100
			require.Less(t, f.blocksOf(t, c.query, true), c.most)
		})
	}
	t.Run("for operators", func(t *testing.T) {
		sql, args := LogQuery{Endpoint: own, State: rules.Failed, Limit: 100}.statement()
		require.LessOrEqual(t, f.fetched(t, sql, args), 2)
		span := resendSpan([]rules.State{rules.Failed, rules.Dropped})
		args = []any{f.nowOverride(), own.TenantID, own.KeyID, eventNumber(1), eventNumber(number), 100}
		require.LessOrEqual(t, f.fetched(t, span, args), 10)
	})
}
