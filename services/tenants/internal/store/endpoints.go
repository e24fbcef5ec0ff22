package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	selectSubscriptions = `SELECT tenant_id, id, scopes, all_brands, brand_ids FROM api_keys
WHERE tenant_id = ANY($1::uuid[]) AND revoked_at IS NULL AND webhook_url IS NOT NULL ORDER BY tenant_id, id`

	// A secret signs only while all newer ones do: the previous version of this program forgets only the newest of before.
	selectEndpoints = `SELECT k.id, k.revoked_at IS NOT NULL, t.api_access, k.webhook_url, k.webhook_secret,
  array_remove(ARRAY[
    CASE WHEN k.previous_signs_until > now() THEN k.previous_webhook_secret END,
    CASE WHEN k.previous_signs_until > now() AND k.second_signs_until > now() THEN k.second_previous_secret END,
    CASE WHEN k.previous_signs_until > now() AND k.second_signs_until > now() AND k.third_signs_until > now() THEN k.third_previous_secret END], NULL)
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.id = ANY($1)`
)

// Subscriptions lists the webhook endpoints of the tenants with their scopes and brands.
func (s *Store) Subscriptions(ctx context.Context, tenantIDs []string) ([]*tenantsv1.EndpointSubscription, error) {
	rows, err := s.pool.Query(ctx, selectSubscriptions, postgres.UUIDs(tenantIDs))
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	subscriptions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*tenantsv1.EndpointSubscription, error) {
		e := &tenantsv1.EndpointSubscription{}
		var columns []string
		err := row.Scan(&e.TenantId, &e.KeyId, &columns, &e.AllBrands, &e.BrandIds)
		e.Scopes = enumname.ParseAll[commonv1.Scope](columns)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("list endpoints: %w", err)
	}
	return subscriptions, nil
}

// Endpoint is the state, URL and secret of a key's webhook.
type Endpoint struct {
	KeyID     int32
	Revoked   bool
	APIAccess bool
	URL       *string
	// SealedSecret is the signing secret, sealed for the key.
	SealedSecret []byte
	// SealedPrevious are the secrets of before that also sign, newest first.
	SealedPrevious [][]byte
}

// Endpoints returns the endpoints of the keys that exist, in no particular order.
func (s *Store) Endpoints(ctx context.Context, keyIDs []int32) ([]Endpoint, error) {
	rows, err := s.pool.Query(ctx, selectEndpoints, list(keyIDs))
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	endpoints, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Endpoint, error) {
		var e Endpoint
		return e, row.Scan(&e.KeyID, &e.Revoked, &e.APIAccess, &e.URL, &e.SealedSecret, &e.SealedPrevious)
	})
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	return endpoints, nil
}
