package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const selectOwnKey = `SELECT k.id, k.name, k.prefix, k.scopes, k.all_brands, k.brand_ids, k.webhook_url
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.tenant_id = $1 AND k.id = $2 AND k.revoked_at IS NULL AND t.api_access`

// Me returns the tenant and one of its keys. It fails with ErrNotFound for a revoked key, and while the
// tenant's API access is off.
func (s *Store) Me(ctx context.Context, tenantID string, keyID int32) (*tenantsv1.Tenant, Key, error) {
	t := &tenantsv1.Tenant{}
	var version int64
	var keys []Key
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		b.Queue(selectOwnKey, tenantID, keyID).Query(collect(&keys, scanKey))
		b.Queue(selectTenant, tenantID).QueryRow(scanTenant(t, &version))
		b.Queue(selectFields, tenantID).Query(collect(&t.CustomFields, scanField))
	})
	if err != nil {
		return nil, Key{}, translate(fmt.Errorf("read own key: %w", err))
	}
	if len(keys) != 1 {
		return nil, Key{}, ErrNotFound
	}
	return t, keys[0], nil
}
