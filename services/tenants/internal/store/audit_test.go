package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

func TestTheAuditIsAppendOnlyForAYear(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	const year = 366 * 24 * time.Hour
	for _, slug := range []string{"a", "b"} { // The third entry is the tenant's.
		_, err := s.PutBrand(t.Context(), tenant, operator, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: slug})
		require.NoError(t, err)
	}
	for _, sql := range []string{`UPDATE tenant_audit SET actor_id = 'x'`, `DELETE FROM tenant_audit`, `TRUNCATE tenant_audit`} {
		_, err := pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "append-only", sql)
	}
	deleted, err := s.Delete(t.Context(), store.OldAudit, year, 1)
	require.NoError(t, err)
	require.Zero(t, deleted)
	_, err = pool.Exec(t.Context(), `ALTER TABLE tenant_audit DISABLE TRIGGER USER;
UPDATE tenant_audit SET at = at - interval '367 days' WHERE id <> (SELECT id FROM tenant_audit ORDER BY id DESC LIMIT 1);
ALTER TABLE tenant_audit ENABLE TRIGGER USER`)
	require.NoError(t, err)
	for _, want := range []int{1, 1, 0} {
		deleted, err := s.Delete(t.Context(), store.OldAudit, year, 1)
		require.NoError(t, err)
		require.Equal(t, want, deleted)
	}
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM tenant_audit`).Scan(&left))
	require.Equal(t, 1, left)
}
