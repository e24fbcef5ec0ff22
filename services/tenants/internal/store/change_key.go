package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

const (
	// The tenant of a key never changes, so it is read before its row is locked.
	selectKeyTenant = `SELECT tenant_id FROM api_keys WHERE id = $1`

	revokeKey = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`

	selectKey = `SELECT id, name, prefix, scopes, all_brands, brand_ids, webhook_url FROM api_keys
WHERE id = $1 AND revoked_at IS NULL`

	updateWebhookURL = `UPDATE api_keys SET webhook_url = $2
WHERE id = $1 AND webhook_url IS DISTINCT FROM $2`

	updateSigning = `UPDATE api_keys SET webhook_secret = $2 WHERE id = $1 AND revoked_at IS NULL`
)

// Changed is the tenant of a changed key and the tenant's version after the change.
type Changed struct {
	TenantID string
	Version  int64
}

// changeKey calls change for the tenant of the key.
func (s *Store) changeKey(
	ctx context.Context, keyID int32, work func(tx pgx.Tx) (changed bool, err error),
) (c Changed, err error) {
	if err := s.pool.QueryRow(ctx, selectKeyTenant, keyID).Scan(&c.TenantID); err != nil {
		return c, translate(fmt.Errorf("find key: %w", err))
	}
	c.Version, err = s.change(ctx, c.TenantID, work)
	return c, err
}

// RevokeKey revokes a key permanently. It does not change a revoked key.
func (s *Store) RevokeKey(ctx context.Context, keyID int32, at time.Time) (Changed, error) {
	return s.changeKey(ctx, keyID, func(tx pgx.Tx) (bool, error) {
		tag, err := tx.Exec(ctx, revokeKey, keyID, at)
		return tag.RowsAffected() > 0, err
	})
}

// SetWebhookURL sets or, with nil, removes the webhook URL of a key that is not revoked.
func (s *Store) SetWebhookURL(ctx context.Context, keyID int32, url *string) (k Key, c Changed, err error) {
	c, err = s.changeKey(ctx, keyID, func(tx pgx.Tx) (bool, error) {
		rows, err := tx.Query(ctx, selectKey, keyID)
		if err != nil {
			return false, fmt.Errorf("read key: %w", err)
		}
		if k, err = pgx.CollectExactlyOneRow(rows, scanKey); err != nil {
			return false, fmt.Errorf("read key: %w", err)
		}
		k.WebhookURL = url
		tag, err := tx.Exec(ctx, updateWebhookURL, keyID, url)
		return tag.RowsAffected() > 0, err
	})
	return k, c, err
}

// SetWebhookSecret replaces the sealed signing secret of a key that is not revoked.
func (s *Store) SetWebhookSecret(ctx context.Context, keyID int32, sealed []byte) (Changed, error) {
	return s.changeKey(ctx, keyID, func(tx pgx.Tx) (bool, error) {
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
