package store_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

const checkViolation = "23514"

const insertLink = `INSERT INTO links
  (tenant_id, id, brand_id, batch_id, batch_index, status, claim_url_sealed, created_at, updated_at)
VALUES (gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 0, 'ACTIVE', '', now(), now())`

func TestTheSchemaRefusesInconsistentLinks(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	id := uuid.NewString()
	_, err := pool.Exec(t.Context(), insertLink, id)
	require.NoError(t, err)
	for name, set := range map[string]string{
		"a claim without its order":           "status = 'CLAIMED', claimed_at = now()",
		"a claim without its time":            "status = 'CLAIMED', order_id = gen_random_uuid()",
		"an order on a link that is active":   "order_id = gen_random_uuid()",
		"a cancellation without its time":     "status = 'CANCELLED'",
		"a time of cancellation on an active": "cancelled_at = now()",
		"a change before the link was made":   "updated_at = created_at - interval '1 microsecond'",
		"an unknown status":                   "status = 'OPEN'",
		"a claim lock on a link that has ended": "status = 'CANCELLED', cancelled_at = now(), " +
			"claim_order_id = gen_random_uuid(), claim_lease_until = now()",
		"a claim lock without lease":           "claim_order_id = gen_random_uuid()",
		"a lease without claim lock":           "claim_lease_until = now()",
		"a reason on a link that is active":    "reason_sealed = 'x'",
		"a token hash of another length":       "token_hash = 'x'",
		"a recipient longer than the API says": "external_recipient_id = '" + strings.Repeat("a", 129) + "'",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pool.Exec(t.Context(), "UPDATE links SET "+set+" WHERE id = $1", id)
			require.Equal(t, checkViolation, postgres.State(err), "%v", err)
		})
	}
}

func TestDetailsOfLinksThatEndedLongAgoAreErased(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	kept := map[string]bool{}
	for _, c := range []struct {
		set  string
		kept bool
	}{
		{"created_at = now() - interval '91 days', updated_at = now() - interval '91 days'", true},
		{"created_at = now() - interval '91 days', updated_at = now() - interval '91 days', status = 'REQUESTED'", true},
		{
			"created_at = now() - interval '91 days', updated_at = now() - interval '89 days', status = 'CANCELLED', cancelled_at = now()",
			true,
		},
		{
			"created_at = now() - interval '92 days', updated_at = now() - interval '91 days', status = 'CANCELLED', cancelled_at = now()",
			false,
		},
		{
			"created_at = now() - interval '92 days', updated_at = now() - interval '91 days', " +
				"status = 'CLAIMED', claimed_at = now(), order_id = gen_random_uuid()", false,
		},
	} {
		id := uuid.NewString()
		_, err := pool.Exec(t.Context(), insertLink, id)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), "UPDATE links SET details_sealed = 'x', "+c.set+" WHERE id = $1", id)
		require.NoError(t, err)
		kept[id] = c.kept
	}
	n, err := store.New(pool, ring, nil).EraseDetails(t.Context(), 90*24*time.Hour, 10)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	requireKept(t, pool, kept)
}

func requireKept(t *testing.T, pool *pgxpool.Pool, kept map[string]bool) {
	t.Helper()
	for id, want := range kept {
		var has bool
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT details_sealed IS NOT NULL FROM links WHERE id = $1", id).Scan(&has))
		require.Equal(t, want, has)
	}
}

func TestDetailsOfLinksThatNobodyClaimsAreErased(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, store.Migrations())
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))))
	require.NoError(t, err)
	kept := map[string]bool{}
	const old = "created_at = now() - interval '400 days', updated_at = now() - interval '366 days'"
	for _, c := range []struct {
		set  string
		kept bool
	}{
		{old, false},
		{old + ", status = 'REQUESTED'", false},
		{"created_at = now() - interval '400 days', updated_at = now() - interval '364 days'", true},
		{old + ", claim_order_id = gen_random_uuid(), claim_lease_until = now()", true},
		{old + ", status = 'CANCELLED', cancelled_at = now()", true},
	} {
		id := uuid.NewString()
		_, err := pool.Exec(t.Context(), insertLink, id)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), "UPDATE links SET details_sealed = 'x', "+c.set+" WHERE id = $1", id)
		require.NoError(t, err)
		kept[id] = c.kept
	}
	for _, limit := range []int{1, 10} { // Batches are bounded.
		n, err := store.New(pool, ring, nil).EraseUnclaimed(t.Context(), 365*24*time.Hour, limit)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	requireKept(t, pool, kept)
}
