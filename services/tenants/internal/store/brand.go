package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	upsertBrand = `INSERT INTO brands AS b (tenant_id, id, name, slug, primary_colour, logo_url)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, slug = excluded.slug,
  primary_colour = excluded.primary_colour, logo_url = excluded.logo_url
WHERE (b.name, b.slug, b.primary_colour, b.logo_url)
  IS DISTINCT FROM (excluded.name, excluded.slug, excluded.primary_colour, excluded.logo_url)`

	selectBrands = `SELECT id, name, slug, primary_colour, logo_url FROM brands
WHERE tenant_id = $1 AND ($2 OR id = ANY($3)) ORDER BY lower(name), name, id`
)

// PutBrand creates or replaces a brand of the tenant.
func (s *Store) PutBrand(ctx context.Context, tenantID string, b *tenantsv1.Brand) (version int64, err error) {
	return s.put(ctx, tenantID, upsertBrand,
		tenantID, b.GetId(), b.GetName(), b.GetSlug(), b.PrimaryColour, b.LogoUrl)
}

// Brands lists the tenant's brands by name: all, or those with one of the ids.
func (s *Store) Brands(ctx context.Context, tenantID string, all bool, ids []string) ([]*tenantsv1.Brand, error) {
	rows, err := s.pool.Query(ctx, selectBrands, tenantID, all, ids)
	if err != nil {
		return nil, fmt.Errorf("list brands: %w", err)
	}
	brands, err := pgx.CollectRows(rows, scanBrand)
	if err != nil {
		return nil, fmt.Errorf("list brands: %w", err)
	}
	return brands, nil
}

func scanBrand(row pgx.CollectableRow) (*tenantsv1.Brand, error) {
	b := &tenantsv1.Brand{}
	return b, row.Scan(&b.Id, &b.Name, &b.Slug, &b.PrimaryColour, &b.LogoUrl)
}
