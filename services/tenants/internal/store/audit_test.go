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

func TestTheAuditsAreAppendOnlyForAYear(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	const year = 366 * 24 * time.Hour
	for i := range 3 {
		hash := sha256.Sum256([]byte{byte(i)})
		_, _, err := s.CreateKey(t.Context(), tenant, operator,
			store.Key{Name: "k", Prefix: "p"}, store.Secrets{Hash: hash[:], Seal: func(int32) []byte { return []byte{} }})
		require.NoError(t, err)
	}
	for _, slug := range []string{"a", "b"} { // The third entry is the tenant's.
		_, err := s.PutBrand(t.Context(), tenant, operator, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: slug})
		require.NoError(t, err)
	}
	for table, old := range map[string]store.Old{"key_audit": store.OldKeyAudit, "tenant_audit": store.OldTenantAudit} {
		for _, sql := range []string{`UPDATE ` + table + ` SET actor_id = 'x'`, `DELETE FROM ` + table, `TRUNCATE ` + table} {
			_, err := pool.Exec(t.Context(), sql)
			require.ErrorContains(t, err, "append-only", sql)
		}
		deleted, err := s.Delete(t.Context(), old, year, 1)
		require.NoError(t, err)
		require.Zero(t, deleted)
		_, err = pool.Exec(t.Context(), `ALTER TABLE `+table+` DISABLE TRIGGER USER;
UPDATE `+table+` SET at = at - interval '367 days' WHERE id <> (SELECT id FROM `+table+` ORDER BY id DESC LIMIT 1);
ALTER TABLE `+table+` ENABLE TRIGGER USER`)
		require.NoError(t, err)
		for _, want := range []int{1, 1, 0} {
			deleted, err := s.Delete(t.Context(), old, year, 1)
			require.NoError(t, err)
			require.Equal(t, want, deleted)
		}
		var left int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&left))
		require.Equal(t, 1, left)
	}
}
