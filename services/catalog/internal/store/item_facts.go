package store

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// ItemKey names an item about to be ordered. CampaignID is nil without campaign.
type ItemKey struct {
	TenantID      string
	CampaignID    *string
	ProductID     string
	Country       string
	VariationsKey []byte
}

// It always has one row.
const selectItemFacts = `SELECT c.brand_id::text, ` + statusNow + `, o.status, o.supply_type,
  p.state, p.name, p.customization_available, $4 = ANY(p.available_countries), p.variations, s.id IS NOT NULL
FROM (VALUES (1)) AS one (row)
LEFT JOIN campaigns c ON c.tenant_id = $1 AND c.id = $2
LEFT JOIN offerings o ON o.tenant_id = c.tenant_id AND o.campaign_id = c.id AND o.product_id = $3
LEFT JOIN skus s ON s.tenant_id = c.tenant_id AND s.campaign_id = c.id AND s.product_id = $3
  AND s.variations_key = $5 AND s.offered
LEFT JOIN products p ON p.id = $3`

// ItemFacts reads the records of an item.
func (s *Store) ItemFacts(ctx context.Context, k ItemKey) (rules.ItemFacts, error) {
	var f rules.ItemFacts
	err := s.pool.QueryRow(ctx, selectItemFacts, k.TenantID, k.CampaignID, k.ProductID, k.Country, k.VariationsKey).Scan(
		&f.CampaignBrandID, &f.CampaignStatus, &f.OfferingStatus, &f.SupplyType,
		&f.ProductState, &f.ProductName, &f.Customization, &f.Deliverable, &f.Variations, &f.SKUOffered)
	if err != nil {
		return rules.ItemFacts{}, fmt.Errorf("read item: %w", err)
	}
	return f, nil
}
