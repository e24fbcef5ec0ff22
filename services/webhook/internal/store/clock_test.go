package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestTimesAreTheDatabases(t *testing.T) {
	t.Parallel()
	f := &fixture{Store: New(pgtest.New(t, Migrations())), now: time.Now()}
	// since returns how long ago a time of the only delivery was, by the database's clock.
	since := func(column string) (d time.Duration) {
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT clock_timestamp() - "+column+" FROM deliveries").Scan(&d))
		return d
	}
	const slack = time.Minute
	require.NoError(t, f.FanOut(t.Context(), []Event{
		{TenantID: tenantA, ID: "0190eeee-0000-7000-8000-000000000001", Type: "order.created", Body: []byte("{}"), KeyIDs: []int32{1}},
	}, nil))
	require.InDelta(t, 0, since("created_at"), float64(slack))

	claimOne := func() []Delivery {
		claimed, err := f.Claim(t.Context(), ClaimRequest{Lease: 24 * time.Hour, Limit: 1, PerEndpoint: 1})
		require.NoError(t, err)
		return claimed.Deliveries
	}
	got := claimOne()
	require.Len(t, got, 1)
	require.InDelta(t, 0, got[0].Age, float64(slack))
	require.InDelta(t, -24*time.Hour, since("next_attempt_at"), float64(slack))
	require.Empty(t, claimOne())

	require.NoError(t, f.Release(t.Context(), got, time.Hour))
	require.InDelta(t, -time.Hour, since("next_attempt_at"), float64(slack))
	require.Empty(t, claimOne())

	_, err := f.pool.Exec(t.Context(), "UPDATE deliveries SET next_attempt_at = now(), created_at = now() - interval '50 hours'")
	require.NoError(t, err)
	got = claimOne()
	require.InDelta(t, 50*time.Hour, got[0].Age, float64(slack))
	require.NoError(t, f.record(t, got[0], retryIn1h, 500))
	require.InDelta(t, -time.Hour, since("next_attempt_at"), float64(slack))

	_, err = f.pool.Exec(t.Context(), "UPDATE deliveries SET next_attempt_at = now()")
	require.NoError(t, err)
	got = claimOne()
	require.NoError(t, f.record(t, got[0], rules.Verdict{State: rules.Dropped}, 0))
	require.InDelta(t, 0, since("finished_at"), float64(slack))
}
