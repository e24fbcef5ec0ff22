package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// sealedSecrets are the signing secret, and the one of before while it also signs, with the time for which it does.
const sealedSecrets = `k.webhook_secret,
  CASE WHEN k.previous_signs_until > now() THEN k.previous_webhook_secret END,
  greatest(k.previous_signs_until - now(), '0')`

const (
	// A tenant without an endpoint has one row, whose key is NULL.
	selectSubscriptions = `SELECT t.id, t.version, k.id, k.scopes, k.all_brands, k.brand_ids, t.api_access, k.webhook_url, ` + sealedSecrets + `
FROM tenants t LEFT JOIN api_keys k ON k.tenant_id = t.id AND k.revoked_at IS NULL AND k.webhook_url IS NOT NULL
WHERE t.id = ANY($1::uuid[]) ORDER BY t.id, k.id`

	selectEndpoints = `SELECT k.id, k.revoked_at IS NOT NULL, k.scopes, k.all_brands, k.brand_ids, t.api_access, k.webhook_url, ` + sealedSecrets + `
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
		&tenant, &version, &key, &scopes, &allBrand, &brands, &e.APIAccess, &e.URL, &e.SealedSecret, &e.SealedPrevious, &e.PreviousSignsFor,
	}, func() error {
		if found.Versions[tenant] = version; key == nil {
			return nil
		}
		e.KeyID, e.Scopes, e.AllBrands, e.BrandIDs = *key, enumname.ParseAll[commonv1.Scope](scopes), *allBrand, brands
		found.List = append(found.List, Subscription{Endpoint: e, EndpointSubscription: &tenantsv1.EndpointSubscription{
			TenantId: tenant, KeyId: *key, Scopes: e.Scopes, AllBrands: e.AllBrands, BrandIds: brands,
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
	Scopes    []commonv1.Scope
	AllBrands bool
	BrandIDs  []string
	APIAccess bool
	URL       *string
	// SealedSecret is the signing secret, sealed for the key.
	SealedSecret []byte
	// SealedPrevious is the secret of before, which also signs for PreviousSignsFor. Nil: it does not.
	SealedPrevious   []byte
	PreviousSignsFor time.Duration
}

// Endpoints returns the endpoints of the keys that exist, in no particular order.
func (s *Store) Endpoints(ctx context.Context, keyIDs []int32) ([]Endpoint, error) {
	rows, err := s.pool.Query(ctx, selectEndpoints, list(keyIDs))
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	endpoints, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Endpoint, error) {
		var e Endpoint
		var scopes []string
		err := row.Scan(&e.KeyID, &e.Revoked, &scopes, &e.AllBrands, &e.BrandIDs, &e.APIAccess, &e.URL, &e.SealedSecret, &e.SealedPrevious, &e.PreviousSignsFor)
		e.Scopes = enumname.ParseAll[commonv1.Scope](scopes)
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("get endpoints: %w", err)
	}
	return endpoints, nil
}
