package store_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

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
		{"created_at = now() - interval '91 days', updated_at = now() - interval '89 days', status = 'CANCELLED', cancelled_at = now()", true},
		{"created_at = now() - interval '92 days', updated_at = now() - interval '91 days', status = 'CANCELLED', cancelled_at = now()", false},
		{"created_at = now() - interval '92 days', updated_at = now() - interval '91 days', status = 'CLAIMED', claimed_at = now(), order_id = gen_random_uuid()", false},
	} {
		id := uuid.NewString()
		_, err := pool.Exec(t.Context(), insertLink, id)
		require.NoError(t, err)
		_, err = pool.Exec(t.Context(), "UPDATE links SET details_sealed = 'x', "+c.set+" WHERE id = $1", id)
		require.NoError(t, err)
		kept[id] = c.kept
	}
	n, err := store.New(pool, ring).EraseDetails(t.Context(), 90*24*time.Hour, 10)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	for id, want := range kept {
		var has bool
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT details_sealed IS NOT NULL FROM links WHERE id = $1", id).Scan(&has))
		require.Equal(t, want, has)
	}
}
