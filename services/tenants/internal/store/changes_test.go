package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const bump = `UPDATE tenants SET version = version + 1 WHERE id = $1`

func TestChangesSinceAMoment(t *testing.T) {
	t.Parallel()
	s, pool, changed := setup(t)
	addTenants(t, pool, 1)
	require.True(t, since(t, s, "").Any)

	before := quietMoment(t, s)
	pgtest.Exec(t, pool, bump, changed)
	after := since(t, s, before)
	require.False(t, after.Any)
	require.Equal(t, map[string]int64{changed: 2}, after.Versions)

	for _, moment := range []string{"x", "x 1", after.Until + "x", "another/server 1"} {
		require.True(t, since(t, s, moment).Any, moment)
	}
}

func since(t *testing.T, s *store.Store, moment string) store.Changes {
	t.Helper()
	changes, err := s.ChangesSince(t.Context(), moment)
	require.NoError(t, err)
	return changes
}

// quietMoment returns a moment since which no tenant has changed. Transactions of other tests delay it, also in other databases.
func quietMoment(t *testing.T, s *store.Store) (moment string) {
	t.Helper()
	require.Eventually(t, func() bool {
		moment = since(t, s, "").Until
		changes := since(t, s, moment)
		return !changes.Any && len(changes.Versions) == 0
	}, 5*time.Minute, 10*time.Millisecond)
	return moment
}

// A change that began before a moment may be committed after it.
func TestChangesThatWereInProgressAreReturnedOnceTheyAreCommitted(t *testing.T) {
	t.Parallel()
	s, pool, changed := setup(t)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, tx, bump, changed)
	before := since(t, s, "").Until
	meanwhile := since(t, s, before).Until
	require.NoError(t, tx.Commit(t.Context()))
	require.EqualValues(t, 2, since(t, s, before).Versions[changed])
	require.EqualValues(t, 2, since(t, s, meanwhile).Versions[changed])
}

func TestTooManyChangesAreNotListed(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	before := quietMoment(t, s)
	addTenants(t, pool, 1000)
	changes := since(t, s, before)
	require.False(t, changes.Any)
	require.Len(t, changes.Versions, 1000)

	addTenants(t, pool, 1)
	changes = since(t, s, before)
	require.True(t, changes.Any)
	require.Empty(t, changes.Versions)
}

func addTenants(t *testing.T, pool *pgxpool.Pool, n int) {
	t.Helper()
	pgtest.Exec(t, pool, fmt.Sprintf(`INSERT INTO tenants (id, name, locales, currency, approval_required, api_access)
SELECT gen_random_uuid(), 'n', '{en-US}', 'EUR', false, true FROM generate_series(1, %d)`, n))
}
