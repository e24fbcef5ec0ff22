package store

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// old is a store whose database has an old snapshot open, as of a backup: the index entries of finished deliveries stay.
type old struct {
	*Store

	t    *testing.T
	pool *pgxpool.Pool
}

func setupOld(t *testing.T) *old {
	t.Helper()
	url := pgtest.NewURL(t, Migrations())
	pgtest.HoldSnapshot(t, url)
	// One connection makes and reads the statistics.
	tel := telemetrytest.New().Telemetry
	pool, err := postgres.OpenObserved(t.Context(), postgres.Config{URL: url, MaxConns: 1}, tel, postgres.ByIndex, postgres.PlanOnce)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return &old{Store: New(pool), t: t, pool: pool}
}

// finish stores deliveries to the endpoints, which the sender leases and delivers.
func (o *old) finish(sender int64, deliveries int, keys ...int32) {
	o.t.Helper()
	const (
		insert = `WITH made AS (
  INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
  SELECT $1, gen_random_uuid(), 'order.created', $1, $1, '', now() FROM generate_series(1, $2::int)
  RETURNING tenant_id, event_id
)
INSERT INTO deliveries (tenant_id, event_id, key_id, next_attempt_at, created_at)
SELECT tenant_id, event_id, ($3::int[])[1 + (row_number() OVER () % $4::int)], now() - random() * interval '1 s', now() FROM made`
		lease = `UPDATE deliveries
   SET lease_token = gen_random_uuid(), leased_by = $1, next_attempt_at = next_attempt_at + interval '30 s' WHERE state = 'PENDING'`
		finish = `UPDATE deliveries SET state = 'DELIVERED', lease_token = NULL, leased_by = 0, next_attempt_at = NULL,
  finished_at = clock_timestamp() WHERE state = 'PENDING'`
	)
	exec := func(sql string, args ...any) {
		pgtest.Exec(o.t, o.pool, sql, args...)
	}
	exec(insert, tenantA, deliveries, keys, len(keys))
	exec(lease, sender)
	exec(finish)
	exec("ANALYZE")
}

// entries returns how many index entries work reads.
func (o *old) entries(work func()) (read int) {
	o.t.Helper()
	total := func() (n int) {
		require.NoError(o.t, o.pool.QueryRow(o.t.Context(), "SELECT FROM pg_stat_force_next_flush()").Scan())
		require.NoError(o.t, o.pool.QueryRow(o.t.Context(), "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes").Scan(&n))
		return n
	}
	before := total()
	work()
	return total() - before
}

func TestSendingReadsNoEntriesOfFinishedDeliveries(t *testing.T) {
	t.Parallel()
	const sender, deliveries, few = 7, 5000, 50
	o := setupOld(t)
	require.NoError(t, o.Register(t.Context(), sender))
	require.NoError(t, o.Register(t.Context(), sender+1))
	o.finish(sender, deliveries, 1, 2)

	due, err := o.FanOut(t.Context(), 0, []Event{anEvent(newID(), 1, 2)})
	require.NoError(t, err)
	r := ClaimRequest{Sender: sender, Share: 8, Lease: 30 * time.Second, Limit: 10}
	for _, d := range due {
		r.Endpoints = append(r.Endpoints, ClaimTarget{Due: d, Rows: 8})
	}
	var claimed Claimed
	read := o.entries(func() {
		claimed, err = o.Claim(t.Context(), r)
		require.NoError(t, err)
		require.Len(t, claimed.Deliveries, 2)
		require.Empty(t, claimed.Unclaimed)
	})
	require.Less(t, read, few)
	require.Less(t, o.entries(func() { require.NoError(t, o.Release(t.Context(), claimed.Deliveries[:1], 0)) }), few)
	require.Less(t, o.entries(func() {
		recorded, err := o.Record(t.Context(), []Result{{Delivery: claimed.Deliveries[1], Verdict: delivered}})
		require.NoError(t, err)
		require.Equal(t, []bool{true}, recorded)
	}), few)
	require.Greater(t, o.entries(func() {
		_, err := o.Discover(t.Context(), sender, false)
		require.NoError(t, err)
	}), deliveries, "the entries are there: a search reads them")
}

func TestDeletingReadsNoEntriesOfDeletedDeliveries(t *testing.T) {
	t.Parallel()
	const deliveries, limit = 2000, 100
	o := setupOld(t)
	o.finish(7, deliveries, 1)
	var since time.Time
	next := func() {
		deleted, last, err := o.DeleteFinished(t.Context(), -time.Minute, since, limit)
		require.NoError(t, err)
		require.Equal(t, limit, deleted)
		require.False(t, last.Before(since))
		since = last
	}
	for range deliveries/limit - 1 {
		next()
	}
	// Each deleted delivery is found by its own entry and by those of its attempts and its event.
	require.Less(t, o.entries(next), 10*limit)
}

func TestFanningOutReadsTheNewestVersionOfAnOffset(t *testing.T) {
	t.Parallel()
	const updates, few = 3000, 30
	o := setupOld(t)
	_, err := Offsets{o.Store}.Stored(t.Context(), 0, 0)
	require.NoError(t, err)
	var next int64
	fanOut := func() {
		_, err := o.FanOutMessages(t.Context(), Messages{First: next, Next: next + 1}, []Event{anEvent(newID(), 1)}, nil, nil)
		require.NoError(t, err)
		next++
	}
	for range updates {
		fanOut()
	}
	require.Less(t, pgtest.Pages(t, o.pool, "fan_out_offsets", fanOut), few)
	require.Greater(t, pgtest.Pages(t, o.pool, "fan_out_offsets", func() {
		_, err := Offsets{o.Store}.Stored(t.Context(), 0, 0)
		require.NoError(t, err)
	}), few, "the old versions are there: a reader that starts reads them")
}
