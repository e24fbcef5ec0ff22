package store

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestDroppingTakesTheRowsOfAnEndpointThatNobodySends(t *testing.T) {
	t.Parallel()
	f := setup(t)
	endpoint := Endpoint{TenantID: tenantA, KeyID: 1}
	for i := range 5 {
		f.addEvent(t, tenantA, noon.Add(time.Duration(i-5)*time.Second), 1, 2)
	}
	f.addEvent(t, tenantA, noon, 1)
	late := f.addEvent(t, tenantA, noon.Add(time.Microsecond), 1)
	f.now = noon
	r := request(1)
	r.Sender, r.Share, r.Endpoints = 1, 1, []ClaimTarget{wanted(1, noon.Add(-time.Hour), 0)}
	r.Endpoints[0].Rows = 1
	require.NoError(t, f.Register(t.Context(), 1))
	claimed, err := f.Claim(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, claimed.Deliveries, 1)

	var since time.Time
	drop := func(limit int) int {
		t.Helper()
		n, last, err := f.Drop(t.Context(), endpoint, noon, since, limit)
		require.NoError(t, err)
		require.False(t, last.Before(since))
		since = last
		return n
	}
	require.Equal(t, 2, drop(2))
	require.Equal(t, noon.Add(-3*time.Second), since.UTC())
	tx, err := f.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM deliveries WHERE key_id = 1 AND next_attempt_at = $1 FOR UPDATE", noon)
	require.NoError(t, err)
	require.Equal(t, 2, drop(10), "those that are locked are passed over")
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, drop(10))
	require.Zero(t, drop(10))

	const ofKey = " FROM deliveries WHERE tenant_id = $1 AND key_id = $2 AND state = 'PENDING'"
	rows, err := f.pool.Query(t.Context(), "SELECT event_id::text"+ofKey+" ORDER BY event_id", tenantA, 1)
	require.NoError(t, err)
	pending, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{claimed.Deliveries[0].EventID, late}, pending, "the leased one, and one that was stored later")
	require.NoError(t, f.record(t, claimed.Deliveries[0], delivered, 200), "its lease is not lost")
	var others int
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT count(*)"+ofKey, tenantA, 2).Scan(&others))
	require.Equal(t, 5, others)
}

func TestASearchReturnsAllPendingEndpointsIfTheyAreWanted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.addEvent(t, tenantA, noon, 1, 2, 3)
	require.NoError(t, f.record(t, f.claim(t, noon, 1, 1)[0], retryIn1h, 500))
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, 2}}, time.Minute))
	found, err := f.Discover(t.Context(), 1, true)
	require.NoError(t, err)
	require.Equal(t, []Due{wanted(3, noon, 0).Due}, utc(found.Due))
	require.Equal(t, []Endpoint{{tenantA, 1}, {tenantA, 2}, {tenantA, 3}}, found.Pending)
	require.Equal(t, noon, found.StartedAt.UTC())
}
