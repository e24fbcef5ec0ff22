package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

func TestTheAuditOfKeysIsAppendOnlyForAYear(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	const year = 366 * 24 * time.Hour
	for i := range 3 {
		hash := sha256.Sum256([]byte{byte(i)})
		_, _, err := s.CreateKey(t.Context(), tenant, operator,
			store.Key{Name: "k", Prefix: "p"}, store.Secrets{Hash: hash[:], Seal: func(int32) []byte { return []byte{} }})
		require.NoError(t, err)
	}
	for _, sql := range []string{
		`UPDATE key_audit SET actor_id = 'somebody else'`, `DELETE FROM key_audit`, `TRUNCATE key_audit`,
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "append-only", sql)
	}
	deleted, err := s.DeleteKeyAudit(t.Context(), year, 10)
	require.NoError(t, err)
	require.Zero(t, deleted)

	_, err = pool.Exec(t.Context(), `ALTER TABLE key_audit DISABLE TRIGGER USER;
UPDATE key_audit SET at = at - interval '367 days' WHERE key_id <> (SELECT max(key_id) FROM key_audit);
ALTER TABLE key_audit ENABLE TRIGGER USER`)
	require.NoError(t, err)
	for _, want := range []int{1, 1, 0} {
		deleted, err := s.DeleteKeyAudit(t.Context(), year, 1)
		require.NoError(t, err)
		require.Equal(t, want, deleted)
	}
	left, err := s.KeyAudit(t.Context(), tenant, operator, nil, nil, 10)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestTheAuditOfTenantsIsAppendOnlyForAYear(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	const year = 366 * 24 * time.Hour
	for _, slug := range []string{"a", "b"} {
		_, err := s.PutBrand(t.Context(), tenant, operator, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: slug})
		require.NoError(t, err)
	}
	for _, sql := range []string{
		`UPDATE tenant_audit SET actor_id = 'somebody else'`, `DELETE FROM tenant_audit`, `TRUNCATE tenant_audit`,
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "append-only", sql)
	}
	deleted, err := s.DeleteTenantAudit(t.Context(), year, 10)
	require.NoError(t, err)
	require.Zero(t, deleted)

	_, err = pool.Exec(t.Context(), `ALTER TABLE tenant_audit DISABLE TRIGGER USER;
UPDATE tenant_audit SET at = at - interval '367 days' WHERE detail->'after'->>'slug' <> 'b' OR detail->'after'->>'slug' IS NULL;
ALTER TABLE tenant_audit ENABLE TRIGGER USER`)
	require.NoError(t, err)
	for _, want := range []int{1, 1, 0} {
		deleted, err := s.DeleteTenantAudit(t.Context(), year, 1)
		require.NoError(t, err)
		require.Equal(t, want, deleted)
	}
	left, err := s.TenantAudit(t.Context(), tenant, operator, nil, 10)
	require.NoError(t, err)
	require.Len(t, left, 1)
}
