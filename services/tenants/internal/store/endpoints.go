package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// endpointRow is a key k of a tenant t. Without a key, only the columns of the tenant have values.
type endpointRow struct {
	Endpoint

	version   int64
	keyID     *int32
	allBrands *bool
	scopes    []string
}

// The previous signing secret is read only as long as it still signs, with the remaining time.
var endpoints = postgres.Columns[endpointRow]{
	postgres.Field("t.id", shown, func(r *endpointRow) *string { return &r.TenantID }),
	postgres.Field("t.version", shown, func(r *endpointRow) *int64 { return &r.version }),
	postgres.Field("t.api_access", shown, func(r *endpointRow) *bool { return &r.APIAccess }),
	postgres.Field("(t.cell <> $2 OR "+tenantSwitches+")", shown, func(r *endpointRow) *bool { return &r.Elsewhere }),
	postgres.Field("k.id", shown, func(r *endpointRow) **int32 { return &r.keyID }),
	postgres.Field("k.revoked_at IS NOT NULL", shown, func(r *endpointRow) *bool { return &r.Revoked }),
	postgres.Field("k.scopes", shown, func(r *endpointRow) *[]string { return &r.scopes }),
	postgres.Field("k.all_brands", shown, func(r *endpointRow) **bool { return &r.allBrands }),
	postgres.Field("k.brand_ids", shown, func(r *endpointRow) *[]string { return &r.BrandIDs }),
	postgres.Field("k.webhook_url", shown, func(r *endpointRow) **string { return &r.URL }),
	postgres.Field("k.webhook_secret", shown, func(r *endpointRow) *[]byte { return &r.SealedSecret }),
	postgres.Field("CASE WHEN k.previous_signs_until > now() THEN k.previous_webhook_secret END", shown,
		func(r *endpointRow) *[]byte { return &r.SealedPrevious }),
	postgres.Field("greatest(k.previous_signs_until - now(), '0')", shown,
		func(r *endpointRow) *time.Duration { return &r.PreviousSignsFor }),
}

var (
	// A tenant without an endpoint, or of another cell, has one row, whose key is NULL.
	selectSubscriptions = `SELECT ` + endpoints.Select() + `
FROM tenants t LEFT JOIN api_keys k ON k.tenant_id = t.id AND k.revoked_at IS NULL AND k.webhook_url IS NOT NULL AND t.cell = $2
WHERE t.id = ANY($1::uuid[]) ORDER BY t.id, k.id`

	selectEndpoints = `SELECT ` + endpoints.Select() + `
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.id = ANY($1)`
)

func scanEndpoint(row pgx.CollectableRow) (*endpointRow, error) {
	r := &endpointRow{}
	err := row.Scan(endpoints.Targets(r)...)
	r.KeyID, r.AllBrands = postgres.Value(r.keyID), postgres.Value(r.allBrands)
	r.Scopes = enumname.ParseAll[commonv1.Scope](r.scopes)
	return r, err
}

// Subscriptions lists the webhook endpoints of those of the tenants that are in the cell, and the versions of those that exist.
func (s *Store) Subscriptions(
	ctx context.Context, tenantIDs []string, cell string,
) (versions map[string]int64, found []Endpoint, err error) {
	rows, err := postgres.Select(ctx, s.pool, "list endpoints", scanEndpoint, selectSubscriptions, postgres.UUIDs(tenantIDs), cell)
	versions = map[string]int64{}
	for _, r := range rows {
		versions[r.TenantID] = r.version
		if r.keyID != nil {
			found = append(found, r.Endpoint)
		}
	}
	return versions, found, err
}

// Endpoint is the state, URL and secret of a key's webhook, and which events it receives.
type Endpoint struct {
	TenantID  string
	KeyID     int32
	Revoked   bool
	Scopes    []commonv1.Scope
	AllBrands bool
	BrandIDs  []string
	APIAccess bool
	// Elsewhere means that the tenant is in another cell, or is being switched to one.
	Elsewhere bool
	URL       *string
	// SealedSecret is the signing secret, sealed for the key.
	SealedSecret []byte
	// SealedPrevious is the previous secret, which still signs for PreviousSignsFor; nil: it does not.
	SealedPrevious   []byte
	PreviousSignsFor time.Duration
}

// Endpoints returns the endpoints of the keys that exist, for the services of a cell, in no particular order.
func (s *Store) Endpoints(ctx context.Context, keyIDs []int32, cell string) ([]Endpoint, error) {
	return postgres.Select(ctx, s.pool, "get endpoints", func(row pgx.CollectableRow) (Endpoint, error) {
		r, err := scanEndpoint(row)
		return r.Endpoint, err
	}, selectEndpoints, list(keyIDs), cell)
}
