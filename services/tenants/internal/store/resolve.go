package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const selectPrincipal = `SELECT k.tenant_id, k.id, k.name, k.scopes, k.all_brands, k.brand_ids, t.version
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.hash = $1 AND k.revoked_at IS NULL AND t.api_access`

// Resolve returns the principal of the key with the hash. It fails with ErrNotFound for a key that is
// unknown or revoked, and while the tenant's API access is off.
func (s *Store) Resolve(ctx context.Context, hash []byte) (caller.Principal, error) {
	rows, err := s.pool.Query(ctx, selectPrincipal, hash)
	if err != nil {
		return caller.Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	p, err := pgx.CollectExactlyOneRow(rows, scanPrincipal)
	if err != nil {
		return caller.Principal{}, translate(fmt.Errorf("resolve key: %w", err))
	}
	return p, nil
}

func scanPrincipal(row pgx.CollectableRow) (caller.Principal, error) {
	var p caller.Principal
	var columns []string
	err := row.Scan(&p.TenantID, &p.KeyID, &p.KeyName, &columns, &p.AllBrands, &p.BrandIDs, &p.TenantVersion)
	p.Scopes = enumname.ParseAll[commonv1.Scope](columns)
	return p, err
}
