package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

const (
	// The tenant of a key never changes.
	selectKeyOf = `SELECT true FROM api_keys WHERE tenant_id = $1 AND id = $2`

	revokeKey = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`

	updateGrants = `UPDATE api_keys SET name = $2, scopes = $3, all_brands = $4, brand_ids = $5
WHERE id = $1 AND (name, scopes, all_brands, brand_ids) IS DISTINCT FROM ($2, $3, $4, $5::uuid[])`

	updateWebhookURL = `UPDATE api_keys SET webhook_url = $2
WHERE id = $1 AND webhook_url IS DISTINCT FROM $2`
)

// KeyRef names a key of a tenant.
type KeyRef struct {
	TenantID string
	ID       int32
}

// changeKey calls change for the tenant of the key and, if work changed something, records a in the audit. work may complete a. It
// fails with ErrNotFound for a key that the tenant does not have.
func (s *Store) changeKey(
	ctx context.Context, k KeyRef, a *auditedChange, work func(tx pgx.Tx) (changed bool, err error),
) (version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		version, err = changeKeyIn(ctx, tx, k, a, work)
		return err
	})
	return version, translate(err)
}

// changeKeyIn is changeKey in the caller's transaction.
func changeKeyIn(
	ctx context.Context, tx pgx.Tx, k KeyRef, a *auditedChange, work func(tx pgx.Tx) (changed bool, err error),
) (version int64, err error) {
	return changeIn(ctx, tx, k.TenantID, a.by, func(tx pgx.Tx) (bool, error) {
		var found bool
		if err := tx.QueryRow(ctx, selectKeyOf, k.TenantID, k.ID).Scan(&found); err != nil {
			return false, fmt.Errorf("find key: %w", err)
		}
		changed, err := work(tx)
		if err != nil || !changed {
			return false, err
		}
		return true, a.record(ctx, tx, k.TenantID, strconv.Itoa(int(k.ID)))
	})
}

// RevokeKey revokes a key permanently. It does not change a revoked key.
func (s *Store) RevokeKey(ctx context.Context, ref KeyRef, by Authorization, at time.Time) (int64, error) {
	a := &auditedChange{by: by, action: tenantsv1.TenantAction_TENANT_ACTION_KEY_REVOKE}
	return s.changeKey(ctx, ref, a, func(tx pgx.Tx) (bool, error) {
		tag, err := tx.Exec(ctx, revokeKey, ref.ID, at)
		return tag.RowsAffected() > 0, err
	})
}

// UpdateKey replaces name, scopes and brands of a key that is not revoked. It fails with *UnknownBrandError for brands that the
// tenant does not have.
func (s *Store) UpdateKey(
	ctx context.Context, ref KeyRef, by Authorization, wanted rules.Grants,
) (k Key, version int64, err error) {
	a := &auditedChange{by: by, action: tenantsv1.TenantAction_TENANT_ACTION_KEY_UPDATE}
	version, err = s.changeKey(ctx, ref, a, func(tx pgx.Tx) (bool, error) {
		if k, err = readKey(ctx, tx, ref.ID); err != nil {
			return false, err
		}
		if err := requireBrands(ctx, tx, ref.TenantID, wanted.BrandIDs); err != nil {
			return false, err
		}
		a.before = grantsOf(k)
		k.Grants = wanted
		a.after = grantsOf(k)
		tag, err := tx.Exec(ctx, updateGrants, ref.ID, k.Name, enumname.Strings(k.Scopes), k.AllBrands, list(k.BrandIDs))
		return tag.RowsAffected() > 0, err
	})
	return k, version, err
}

// SetWebhookURL sets or, with nil, removes the webhook URL of a key that is not revoked.
func (s *Store) SetWebhookURL(ctx context.Context, ref KeyRef, by Authorization, url *string) (k Key, version int64, err error) {
	a := &auditedChange{by: by, action: tenantsv1.TenantAction_TENANT_ACTION_KEY_SET_WEBHOOK_URL}
	version, err = s.changeKey(ctx, ref, a, func(tx pgx.Tx) (bool, error) {
		if k, err = readKey(ctx, tx, ref.ID); err != nil {
			return false, err
		}
		a.before = grantsOf(k)
		k.WebhookURL = url
		a.after = grantsOf(k)
		tag, err := tx.Exec(ctx, updateWebhookURL, ref.ID, url)
		return tag.RowsAffected() > 0, err
	})
	return k, version, err
}

// grantsOf is what the audit shows of a key. A webhook URL may have a secret in its path, so only its host is recorded.
func grantsOf(k Key) map[string]any {
	g := map[string]any{
		"name": k.Name, "scopes": enumname.Strings(k.Scopes), "allBrands": k.AllBrands, "brandIds": list(k.BrandIDs),
	}
	if host := webhookHost(k.WebhookURL); host != nil {
		g["webhookHost"] = *host
	}
	return g
}

// readKey reads a key that is not revoked. The caller holds the lock of its tenant.
func readKey(ctx context.Context, tx pgx.Tx, keyID int32) (Key, error) {
	return postgres.SelectOne(ctx, tx, "read key", ErrNotFound, scanKey, selectKey, keyID)
}
