package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	selectSubcategories = `SELECT code, true FROM subcategories WHERE code = ANY($1::text[])`

	selectImages = `SELECT file_id, true FROM images WHERE file_id = ANY($1::text[])`

	selectRegions = `SELECT code, EXISTS (SELECT FROM region_countries WHERE region = code) FROM regions`
)

// readKnown reads which references of p exist.
func readKnown(ctx context.Context, q postgres.Querier, p rules.Product) (rules.References, error) {
	known := rules.References{Subcategories: map[string]bool{}, Images: map[string]bool{}, Regions: map[string]bool{}}
	b := &pgx.Batch{}
	b.Queue(selectSubcategories, p.Categories).Query(collectMap(known.Subcategories))
	b.Queue(selectImages, p.ImageFileIDs).Query(collectMap(known.Images))
	b.Queue(selectRegions).Query(collectMap(known.Regions))
	if err := q.SendBatch(ctx, b).Close(); err != nil {
		return rules.References{}, fmt.Errorf("read references: %w", err)
	}
	return known, nil
}

// collectMap adds rows with a key and a value to a map.
func collectMap[V any](all map[string]V) func(rows pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var key string
		var value V
		_, err := pgx.ForEachRow(rows, []any{&key, &value}, func() error {
			all[key] = value
			return nil
		})
		return err
	}
}

// readGifts reads the gifts that exist among the ids.
func readGifts(ctx context.Context, q postgres.Querier, ids []string) (map[string]rules.Product, error) {
	found, err := postgres.Select(ctx, q, "read gifts", scanProduct, selectProducts+` WHERE p.id = ANY($1::uuid[])`, ids)
	gifts := map[string]rules.Product{}
	for _, p := range found {
		gifts[p.ID] = p.Product
	}
	return gifts, err
}

// ItemQuery names an item about to be ordered. CampaignID is nil without campaign.
type ItemQuery struct {
	TenantID      string
	CampaignID    *string
	ProductID     string
	Country       string
	VariationsKey []byte
}

// The result always has one row.
const selectItemFacts = `SELECT c.brand_id::text, ` + statusNow + `, o.status, o.supply_type,
  p.state, p.name, p.customization_available, $4 = ANY(p.available_countries), p.variations, s.id IS NOT NULL, s.stock,
  CASE WHEN s.id IS NULL THEN (SELECT jsonb_agg(variations) FROM skus
    WHERE tenant_id = c.tenant_id AND campaign_id = c.id AND product_id = $3 AND offered) END
FROM (VALUES (1)) AS one (row)
LEFT JOIN campaigns c ON c.tenant_id = $1 AND c.id = $2
LEFT JOIN offerings o ON o.tenant_id = c.tenant_id AND o.campaign_id = c.id AND o.product_id = $3
LEFT JOIN skus s ON s.tenant_id = c.tenant_id AND s.campaign_id = c.id AND s.product_id = $3
  AND s.variations_key = $5 AND s.offered
LEFT JOIN {gifts} p ON p.id = $3`

var itemFacts = newStatement(selectItemFacts, 5)

// ItemFacts reads the records of an item.
func (s *Store) ItemFacts(ctx context.Context, k ItemQuery) (rules.ItemFacts, error) {
	var f rules.ItemFacts
	sql, args := s.forTenant(k.TenantID, itemFacts, k.TenantID, k.CampaignID, k.ProductID, k.Country, k.VariationsKey)
	err := s.pool.QueryRow(ctx, sql, args...).Scan(
		&f.CampaignBrandID, &f.CampaignStatus, &f.OfferingStatus, &f.SupplyType,
		&f.ProductState, &f.ProductName, &f.Customization, &f.Deliverable, &f.Variations, &f.SKUOffered, &f.Stock, &f.Offered)
	if err != nil {
		return rules.ItemFacts{}, fmt.Errorf("read item: %w", err)
	}
	return f, nil
}
