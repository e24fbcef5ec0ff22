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

// sealedSecrets are the signing secret and those of before that also sign, newest first. A secret signs only while all newer ones
// do: the previous version of this program forgets only the newest of before.
const sealedSecrets = `k.webhook_secret,
  array_remove(ARRAY[
    CASE WHEN k.previous_signs_until > now() THEN k.previous_webhook_secret END,
    CASE WHEN k.previous_signs_until > now() AND k.second_signs_until > now() THEN k.second_previous_secret END,
    CASE WHEN k.previous_signs_until > now() AND k.second_signs_until > now() AND k.third_signs_until > now() THEN k.third_previous_secret END], NULL)`

const (
	// A tenant without an endpoint has one row, whose key is NULL.
	selectSubscriptions = `SELECT t.id, t.version, k.id, k.scopes, k.all_brands, k.brand_ids, t.api_access, k.webhook_url, ` + sealedSecrets + `
FROM tenants t LEFT JOIN api_keys k ON k.tenant_id = t.id AND k.revoked_at IS NULL AND k.webhook_url IS NOT NULL
WHERE t.id = ANY($1::uuid[]) ORDER BY t.id, k.id`

	selectEndpoints = `SELECT k.id, k.revoked_at IS NOT NULL, t.api_access, k.webhook_url, ` + sealedSecrets + `
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.id = ANY($1)`
)

// Subscriptions are the webhook endpoints of tenants, and the versions of those that exist.
type Subscriptions struct {
	Versions map[string]int64
	List     []Subscription
}

// Subscription says which events an endpoint receives, and where it is.
type Subscription struct {
	*tenantsv1.EndpointSubscription

	Endpoint Endpoint
}

// Subscriptions lists the webhook endpoints of the tenants with their scopes and brands.
func (s *Store) Subscriptions(ctx context.Context, tenantIDs []string) (Subscriptions, error) {
	rows, err := s.pool.Query(ctx, selectSubscriptions, postgres.UUIDs(tenantIDs))
	if err != nil {
		return Subscriptions{}, fmt.Errorf("list endpoints: %w", err)
	}
	found := Subscriptions{Versions: map[string]int64{}}
	var (
		tenant   string
		version  int64
		key      *int32
		allBrand *bool
		scopes   []string
		brands   []string
		e        Endpoint
	)
	_, err = pgx.ForEachRow(rows, []any{
		&tenant, &version, &key, &scopes, &allBrand, &brands, &e.APIAccess, &e.URL, &e.SealedSecret, &e.SealedPrevious,
	}, func() error {
		if found.Versions[tenant] = version; key == nil {
			return nil
		}
		e.KeyID = *key
		found.List = append(found.List, Subscription{Endpoint: e, EndpointSubscription: &tenantsv1.EndpointSubscription{
			TenantId: tenant, KeyId: *key, Scopes: enumname.ParseAll[commonv1.Scope](scopes), AllBrands: *allBrand, BrandIds: brands,
		}})
		scopes, brands, e = nil, nil, Endpoint{}
		return nil
	})
	if err != nil {
		return Subscriptions{}, fmt.Errorf("list endpoints: %w", err)
	}
	return found, nil
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
