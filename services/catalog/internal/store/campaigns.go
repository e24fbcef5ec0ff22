package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// CampaignFilter of a list of campaigns. Nil and empty fields do not filter, except for BrandIDs.
type CampaignFilter struct {
	TenantID string
	// AllBrands false limits the list to campaigns of BrandIDs.
	AllBrands bool
	BrandIDs  []string
	BrandID   *string
	Status    string
	After     *page.Position
	Limit     int
}

// Campaigns reads a page, newest first.
func (s *Store) Campaigns(ctx context.Context, f CampaignFilter) ([]CampaignHead, error) {
	var w postgres.Where
	w.And("c.tenant_id = ?", f.TenantID)
	if !f.AllBrands {
		w.And("c.brand_id = ANY(?::uuid[])", list(f.BrandIDs))
	}
	w.Equal("c.brand_id", f.BrandID)
	w.Equal(statusNow, postgres.Nullable(f.Status))
	if f.After != nil {
		w.And("(c.created_at, c.id) < (?, ?)", f.After.Time, f.After.ID)
	}
	sql := "SELECT " + campaignHead + " FROM campaigns c WHERE " + w.SQL() +
		" ORDER BY c.created_at DESC, c.id DESC LIMIT " + w.Arg(f.Limit)
	rows, err := s.pool.Query(ctx, sql, w.Args()...)
	if err != nil {
		return nil, fmt.Errorf("list campaigns: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (CampaignHead, error) {
		var c CampaignHead
		return c, row.Scan(c.columns()...)
	})
}

// CampaignHead is a campaign without its offerings.
type CampaignHead struct {
	ID       string
	TenantID string
	BrandID  string
	Name     string
	// Status at the time of the read.
	Status    string
	ExpiresAt *time.Time
	CreatedAt time.Time
}

// CampaignView is a campaign with its offerings in display order.
type CampaignView struct {
	CampaignHead
	Offerings []OfferingView
}

// OfferingView is a gift in a campaign as one reader sees it.
type OfferingView struct {
	GiftView
	// Status in the campaign, independent of the state of the gift.
	Status     string
	SupplyType string
	// SKUs that are offered, in the order in which they were first put.
	SKUs []SKUView
}

// GiftView is a gift in a selection.
type GiftView struct {
	ProductID  string
	Published  bool
	Text       rules.Text
	Variations []rules.Variation
	Countries  []string
	Images     []rules.ShownImage
	Categories []string
}

// SKUView is a combination of variations. Stock is nil if the supply type is on demand.
type SKUView struct {
	ID         string            `json:"id"`
	Variations map[string]string `json:"variations"`
	Stock      *int32            `json:"stock"`
}

const (
	campaignHead = `c.id::text, c.tenant_id::text, c.brand_id::text, c.name, ` + statusNow + `, c.expires_at, c.created_at`

	// $1 are the locales. In a row without a gift only the first column has a meaning.
	giftView = `p.id::text, coalesce(p.state = 'PUBLISHED', false), coalesce(p.name, ''), coalesce(p.description, ''),
  coalesce((SELECT jsonb_object_agg(l, p.translations->l) FROM unnest($1::text[]) AS l WHERE p.translations ? l), '{}'),
  coalesce(p.variations, '[]'), p.available_countries, p.images, p.categories`

	// One statement, so that the campaign and its offerings are of the same moment. A campaign without offerings has one row
	// without a gift. Only for one tenant of the sandbox can an offering be active whose gift is not published.
	selectCampaign = `SELECT ` + campaignHead + `, ` + giftView + `,
  CASE WHEN o.status = 'ACTIVE' AND p.state <> 'PUBLISHED' THEN 'NEEDS_REVIEW' ELSE coalesce(o.status, '') END, coalesce(o.supply_type, ''),
  (SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'variations', s.variations,
      'stock', CASE WHEN o.supply_type = 'STOCKED' THEN s.stock END) ORDER BY s.id), '[]')
    FROM skus s WHERE s.tenant_id = o.tenant_id AND s.campaign_id = o.campaign_id AND s.product_id = o.product_id AND s.offered)
FROM campaigns c
LEFT JOIN offerings o ON o.tenant_id = c.tenant_id AND o.campaign_id = c.id
LEFT JOIN {gifts} p ON p.id = o.product_id
WHERE c.tenant_id = $2 AND c.id = $3
ORDER BY o.position`
)

var campaign = reading(selectCampaign, 3)

// Campaign reads a campaign of a tenant. Each text is in the first of the locales that has it, or else in en-US.
func (s *Store) Campaign(ctx context.Context, tenantID, id string, locales ...string) (CampaignView, bool, error) {
	sql, args := s.of(tenantID, campaign, locales, tenantID, id)
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return CampaignView{}, false, fmt.Errorf("read campaign: %w", err)
	}
	return scanCampaign(rows, locales)
}

func scanCampaign(rows pgx.Rows, locales []string) (c CampaignView, found bool, err error) {
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		found = true
		return struct{}{}, c.scan(row, locales)
	})
	if err != nil {
		return CampaignView{}, false, fmt.Errorf("read campaign: %w", err)
	}
	return c, found, nil
}

// scan reads the campaign and adds the offering of the row, if it has one.
func (c *CampaignView) scan(row pgx.CollectableRow, locales []string) error {
	var o OfferingView
	var productID *string
	var translations map[string]rules.Text
	dest := append(c.columns(), &productID)
	dest = append(append(dest, o.columns(&translations)...), &o.Status, &o.SupplyType, &o.SKUs)
	if err := row.Scan(dest...); err != nil {
		return err
	}
	if productID != nil {
		o.ProductID, o.Text = *productID, rules.TextIn(o.Text, translations, locales)
		c.Offerings = append(c.Offerings, o)
	}
	return nil
}

// Position of the campaign in a list, newest first.
func (c CampaignHead) Position() page.Position {
	return page.Position{Time: c.CreatedAt, ID: c.ID}
}

// columns are the destinations of campaignHead.
func (c *CampaignHead) columns() []any {
	return []any{&c.ID, &c.TenantID, &c.BrandID, &c.Name, &c.Status, &c.ExpiresAt, &c.CreatedAt}
}

// columns are the destinations of giftView after the id.
func (g *GiftView) columns(translations *map[string]rules.Text) []any {
	return []any{&g.Published, &g.Text.Name, &g.Text.Description, translations, &g.Variations, &g.Countries, &g.Images, &g.Categories}
}
