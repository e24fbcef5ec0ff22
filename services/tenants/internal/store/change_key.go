package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/reencrypt"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

const (
	// The tenant of a key never changes.
	selectKeyOf = `SELECT true FROM api_keys WHERE tenant_id = $1 AND id = $2`

	revokeKey = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`

	selectKey = `SELECT id, name, prefix, scopes, all_brands, brand_ids, webhook_url FROM api_keys
WHERE id = $1 AND revoked_at IS NULL`

	updateGrants = `UPDATE api_keys SET name = $2, scopes = $3, all_brands = $4, brand_ids = $5
WHERE id = $1 AND (name, scopes, all_brands, brand_ids) IS DISTINCT FROM ($2, $3, $4, $5::uuid[])`

	updateWebhookURL = `UPDATE api_keys SET webhook_url = $2
WHERE id = $1 AND webhook_url IS DISTINCT FROM $2`

	// Without an overlap the secret of before is forgotten at once.
	updateSigning = `UPDATE api_keys SET webhook_secret = $2,
  previous_webhook_secret = CASE WHEN $3::interval > '0' THEN webhook_secret END,
  previous_signs_until = CASE WHEN $3::interval > '0' THEN now() + $3::interval END,
  rotation_id = $4, rotated_at = now()
WHERE id = $1 AND revoked_at IS NULL RETURNING webhook_secret, previous_signs_until`

	selectRotation = `SELECT webhook_secret, previous_signs_until FROM api_keys
WHERE id = $1 AND revoked_at IS NULL AND rotation_id = $2 AND rotated_at > now() - interval '30 days'`

	deleteExpiredSigning = `UPDATE api_keys SET previous_webhook_secret = NULL, previous_signs_until = NULL WHERE id IN (
  SELECT id FROM api_keys WHERE previous_signs_until < now() - $1::interval ORDER BY previous_signs_until LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// OfKey names a key of a tenant.
type OfKey struct {
	TenantID string
	ID       int32
}

// changeKey calls change for the tenant of the key and, if work changed something, records the act. work may complete the act. It
// fails with ErrNotFound for a key that the tenant does not have.
func (s *Store) changeKey(
	ctx context.Context, k OfKey, a *act, work func(tx pgx.Tx) (changed bool, err error),
) (version int64, err error) {
	return s.change(ctx, k.TenantID, a.by, func(tx pgx.Tx) (bool, error) {
		var found bool
		if err := tx.QueryRow(ctx, selectKeyOf, k.TenantID, k.ID).Scan(&found); err != nil {
			return false, fmt.Errorf("find key: %w", err)
		}
		changed, err := work(tx)
		if err != nil || !changed {
			return false, err
		}
		return true, a.record(ctx, tx, k.TenantID, k.ID)
	})
}

// RevokeKey revokes a key permanently. It does not change a revoked key.
func (s *Store) RevokeKey(ctx context.Context, of OfKey, by By, at time.Time) (int64, error) {
	a := &act{by: by, action: tenantsv1.KeyAction_KEY_ACTION_REVOKE}
	return s.changeKey(ctx, of, a, func(tx pgx.Tx) (bool, error) {
		tag, err := tx.Exec(ctx, revokeKey, of.ID, at)
		return tag.RowsAffected() > 0, err
	})
}

// UpdateKey replaces name, scopes and brands of a key that is not revoked. It fails with *UnknownBrandError for brands that the
// tenant does not have.
func (s *Store) UpdateKey(ctx context.Context, of OfKey, by By, wanted rules.Grants) (k Key, version int64, err error) {
	a := &act{by: by, action: tenantsv1.KeyAction_KEY_ACTION_UPDATE}
	version, err = s.changeKey(ctx, of, a, func(tx pgx.Tx) (bool, error) {
		if k, err = readKey(ctx, tx, of.ID); err != nil {
			return false, err
		}
		if err := requireBrands(ctx, tx, of.TenantID, wanted.BrandIDs); err != nil {
			return false, err
		}
		a.before = grantsOf(k)
		k.Name, k.Scopes, k.AllBrands, k.BrandIDs = wanted.Name, wanted.Scopes, wanted.AllBrands, wanted.BrandIDs
		a.after = grantsOf(k)
		tag, err := tx.Exec(ctx, updateGrants, of.ID, k.Name, enumname.Strings(k.Scopes), k.AllBrands, list(k.BrandIDs))
		return tag.RowsAffected() > 0, err
	})
	return k, version, err
}

// SetWebhookURL sets or, with nil, removes the webhook URL of a key that is not revoked.
func (s *Store) SetWebhookURL(ctx context.Context, of OfKey, by By, url *string) (k Key, version int64, err error) {
	a := &act{by: by, action: tenantsv1.KeyAction_KEY_ACTION_SET_WEBHOOK_URL}
	version, err = s.changeKey(ctx, of, a, func(tx pgx.Tx) (bool, error) {
		if k, err = readKey(ctx, tx, of.ID); err != nil {
			return false, err
		}
		a.before = grantsOf(k)
		k.WebhookURL = url
		a.after = grantsOf(k)
		tag, err := tx.Exec(ctx, updateWebhookURL, of.ID, url)
		return tag.RowsAffected() > 0, err
	})
	return k, version, err
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

// Rotation is a new signing secret, which is sealed. The secret of before also signs for the overlap.
type Rotation struct {
	// RequestID identifies repeats. It may be nil.
	RequestID *string
	Secret    []byte
	Overlap   time.Duration
}

// Signing is the sealed signing secret of a key. Until is when the secret of before stops to sign, or nil.
type Signing struct {
	Secret []byte
	Until  *time.Time
}

// RotateWebhookSecret replaces the signing secret of a key that is not revoked. The secret of an earlier rotation stops at once. A
// repeat of the last rotation changes nothing for 30 days, the longest overlap.
func (s *Store) RotateWebhookSecret(ctx context.Context, of OfKey, by By, r Rotation) (out Signing, version int64, err error) {
	a := &act{by: by, action: tenantsv1.KeyAction_KEY_ACTION_ROTATE_WEBHOOK_SECRET}
	version, err = s.changeKey(ctx, of, a, func(tx pgx.Tx) (bool, error) {
		err := tx.QueryRow(ctx, selectRotation, of.ID, r.RequestID).Scan(&out.Secret, &out.Until)
		if !errors.Is(err, pgx.ErrNoRows) {
			return false, err
		}
		err = tx.QueryRow(ctx, updateSigning, of.ID, r.Secret, r.Overlap, r.RequestID).Scan(&out.Secret, &out.Until)
		if errors.Is(err, pgx.ErrNoRows) {
			err = ErrNotFound
		}
		return true, err
	})
	return out, version, err
}

// DeletePreviousSecrets deletes secrets that have not signed for the time.
func (s *Store) DeletePreviousSecrets(ctx context.Context, lag time.Duration, limit int) (int, error) {
	tag, err := s.pool.Exec(ctx, deleteExpiredSigning, lag, limit)
	if err != nil {
		return 0, fmt.Errorf("delete previous secrets: %w", err)
	}
	return int(tag.RowsAffected()), nil
}

// SealedColumns are the columns that hold sealed values.
func SealedColumns() reencrypt.Table {
	return reencrypt.Table{Name: "api_keys", IntegerID: true, Columns: []reencrypt.Column{
		{Name: "webhook_secret", AssociatedData: rules.SecretData[string]},
		{Name: "previous_webhook_secret", AssociatedData: rules.SecretData[string]},
	}}
}
