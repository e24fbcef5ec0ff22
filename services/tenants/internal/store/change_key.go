package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/reencrypt"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

const (
	// The tenant of a key never changes, so it is read before its row is locked.
	selectKeyTenant = `SELECT tenant_id FROM api_keys WHERE id = $1`

	revokeKey = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`

	selectKey = `SELECT id, name, prefix, scopes, all_brands, brand_ids, webhook_url FROM api_keys
WHERE id = $1 AND revoked_at IS NULL`

	updateGrants = `UPDATE api_keys SET name = $2, scopes = $3, all_brands = $4, brand_ids = $5
WHERE id = $1 AND (name, scopes, all_brands, brand_ids) IS DISTINCT FROM ($2, $3, $4, $5::uuid[])`

	updateWebhookURL = `UPDATE api_keys SET webhook_url = $2
WHERE id = $1 AND webhook_url IS DISTINCT FROM $2`

	updateSigning = `UPDATE api_keys SET webhook_secret = $2 WHERE id = $1 AND revoked_at IS NULL`
)

// Changed is the tenant of a changed key and the tenant's version after the change.
type Changed struct {
	TenantID string
	Version  int64
}

// changeKey calls change for the tenant of the key and, if work changed something, records the act. work may complete the act.
func (s *Store) changeKey(
	ctx context.Context, keyID int32, a *act, work func(tx pgx.Tx, tenantID string) (changed bool, err error),
) (c Changed, err error) {
	if err := s.pool.QueryRow(ctx, selectKeyTenant, keyID).Scan(&c.TenantID); err != nil {
		return c, translate(fmt.Errorf("find key: %w", err))
	}
	c.Version, err = s.change(ctx, c.TenantID, func(tx pgx.Tx) (bool, error) {
		changed, err := work(tx, c.TenantID)
		if err != nil || !changed {
			return false, err
		}
		return true, a.record(ctx, tx, c.TenantID, keyID)
	})
	return c, err
}

// RevokeKey revokes a key permanently. It does not change a revoked key.
func (s *Store) RevokeKey(ctx context.Context, keyID int32, by *commonv1.Actor, at time.Time) (Changed, error) {
	a := &act{actor: by, action: tenantsv1.KeyAction_KEY_ACTION_REVOKE}
	return s.changeKey(ctx, keyID, a, func(tx pgx.Tx, _ string) (bool, error) {
		tag, err := tx.Exec(ctx, revokeKey, keyID, at)
		return tag.RowsAffected() > 0, err
	})
}

// UpdateKey replaces name, scopes and brands of a key that is not revoked. It fails with *UnknownBrandError for brands that the
// tenant does not have.
func (s *Store) UpdateKey(ctx context.Context, keyID int32, by *commonv1.Actor, wanted rules.Grants) (k Key, c Changed, err error) {
	a := &act{actor: by, action: tenantsv1.KeyAction_KEY_ACTION_UPDATE}
	c, err = s.changeKey(ctx, keyID, a, func(tx pgx.Tx, tenantID string) (bool, error) {
		if k, err = readKey(ctx, tx, keyID); err != nil {
			return false, err
		}
		if err := requireBrands(ctx, tx, tenantID, wanted.BrandIDs); err != nil {
			return false, err
		}
		a.before = grantsOf(k)
		k.Name, k.Scopes, k.AllBrands, k.BrandIDs = wanted.Name, wanted.Scopes, wanted.AllBrands, wanted.BrandIDs
		a.after = grantsOf(k)
		tag, err := tx.Exec(ctx, updateGrants, keyID, k.Name, enumname.Strings(k.Scopes), k.AllBrands, list(k.BrandIDs))
		return tag.RowsAffected() > 0, err
	})
	return k, c, err
}

// SetWebhookURL sets or, with nil, removes the webhook URL of a key that is not revoked.
func (s *Store) SetWebhookURL(ctx context.Context, keyID int32, by *commonv1.Actor, url *string) (k Key, c Changed, err error) {
	a := &act{actor: by, action: tenantsv1.KeyAction_KEY_ACTION_SET_WEBHOOK_URL}
	c, err = s.changeKey(ctx, keyID, a, func(tx pgx.Tx, _ string) (bool, error) {
		if k, err = readKey(ctx, tx, keyID); err != nil {
			return false, err
		}
		a.before = grantsOf(k)
		k.WebhookURL = url
		a.after = grantsOf(k)
		tag, err := tx.Exec(ctx, updateWebhookURL, keyID, url)
		return tag.RowsAffected() > 0, err
	})
	return k, c, err
}

// readKey reads a key that is not revoked. The caller holds the lock of its tenant.
func readKey(ctx context.Context, tx pgx.Tx, keyID int32) (Key, error) {
	rows, err := tx.Query(ctx, selectKey, keyID)
	if err != nil {
		return Key{}, fmt.Errorf("read key: %w", err)
	}
	k, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if err != nil {
		return Key{}, fmt.Errorf("read key: %w", err)
	}
	return k, nil
}

// SetWebhookSecret replaces the sealed signing secret of a key that is not revoked.
func (s *Store) SetWebhookSecret(ctx context.Context, keyID int32, by *commonv1.Actor, sealed []byte) (Changed, error) {
	a := &act{actor: by, action: tenantsv1.KeyAction_KEY_ACTION_ROTATE_WEBHOOK_SECRET}
	return s.changeKey(ctx, keyID, a, func(tx pgx.Tx, _ string) (bool, error) {
		tag, err := tx.Exec(ctx, updateSigning, keyID, sealed)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotFound
		}
		return true, err
	})
}

// SealedColumns are the columns that hold sealed values.
func SealedColumns() reencrypt.Table {
	return reencrypt.Table{Name: "api_keys", IntegerID: true, Columns: []reencrypt.Column{
		{Name: "webhook_secret", AssociatedData: rules.SecretData[string]},
	}}
}
