package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestTimesAreTheDatabases(t *testing.T) {
	w := &world{pool: pgtest.New(t, store.Migrations())}
	w.Store = store.New(w.pool)
	// since gives how long ago a time of the only delivery was, for the database.
	since := func(column string) (d time.Duration) {
		require.NoError(t, w.pool.QueryRow(t.Context(), "SELECT clock_timestamp() - "+column+" FROM deliveries").Scan(&d))
		return d
	}
	const slack = time.Minute
	require.NoError(t, w.FanOut(t.Context(), []store.Event{
		{TenantID: tenantA, ID: "0190eeee-0000-7000-8000-000000000001", Type: "order.created", Body: []byte("{}"), KeyIDs: []int32{1}},
	}, nil))
	require.InDelta(t, 0, since("created_at"), float64(slack))

	claimOne := func() []store.Delivery {
		claimed, err := w.Claim(t.Context(), store.ClaimRequest{Lease: 24 * time.Hour, Limit: 1, PerEndpoint: 1})
		require.NoError(t, err)
		return claimed.Deliveries
	}
	got := claimOne()
	require.Len(t, got, 1)
	require.InDelta(t, 0, got[0].Age, float64(slack))
	require.InDelta(t, -24*time.Hour, since("next_attempt_at"), float64(slack))
	require.Empty(t, claimOne())

	require.NoError(t, w.Release(t.Context(), got, time.Hour))
	require.InDelta(t, -time.Hour, since("next_attempt_at"), float64(slack))
	require.Empty(t, claimOne())

	_, err := w.pool.Exec(t.Context(), "UPDATE deliveries SET next_attempt_at = now(), created_at = now() - interval '50 hours'")
	require.NoError(t, err)
	got = claimOne()
	require.InDelta(t, 50*time.Hour, got[0].Age, float64(slack))
	retry := rules.Verdict{State: rules.Pending, Counted: true, Wait: 3 * time.Hour}
	require.NoError(t, record(t, w.Store, got[0], retry, store.Attempt{Outcome: rules.Answered(500)}))
	require.InDelta(t, -3*time.Hour, since("next_attempt_at"), float64(slack))

	_, err = w.pool.Exec(t.Context(), "UPDATE deliveries SET next_attempt_at = now()")
	require.NoError(t, err)
	got = claimOne()
	require.NoError(t, record(t, w.Store, got[0], rules.Verdict{State: rules.Dropped}, store.Attempt{}))
	require.InDelta(t, 0, since("finished_at"), float64(slack))
}
