package store

import (
	"context"
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
		w.And("c.brand_id = ANY(?::uuid[])", notNil(f.BrandIDs))
	}
	w.Equal("c.brand_id", f.BrandID)
	w.Equal(statusNow, postgres.Nullable(f.Status))
	if f.After != nil {
		w.And("(c.created_at, c.id) < (?, ?)", f.After.Time, f.After.ID)
	}
	sql := selectHeads + " WHERE " + w.SQL() + " ORDER BY c.created_at DESC, c.id DESC LIMIT " + w.Arg(f.Limit)
	return postgres.Select(ctx, s.pool, "list campaigns", scanHead, sql, w.Args()...)
}

func scanHead(row pgx.CollectableRow) (CampaignHead, error) {
	r := &offeringRow{}
	err := row.Scan(headColumns.Targets(r)...)
	return r.CampaignHead, err
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
	Details    rules.Details
	Variations []rules.Variation
	Countries  []string
	Images     []rules.ShownImage
	// ImageVariations are the values that images show, by image and dimension.
	ImageVariations map[string]map[string]string
	// CustomizationAvailable means that an order may say what is put on the gift.
	CustomizationAvailable bool
	Categories             []string
}

// SKUView is a combination of variations. Stock is nil if the supply type is on demand.
type SKUView struct {
	ID         string            `json:"id"`
	Variations map[string]string `json:"variations"`
	Stock      *int32            `json:"stock"`
}

// offeringRow is an offering of a campaign. Without an offering, only the campaign has a value.
type offeringRow struct {
	CampaignHead
	OfferingView

	productID    *string
	translations map[string]rules.Text
	details      map[string]rules.Details
	imagesPublic bool
}

const (
	ofHead postgres.Use = 1 << iota
	ofGift
	ofOffering
	ofOrdered
)

// Arguments: $1 locales; with ofOrdered also $2, the gift's id.
var offerings = postgres.Columns[offeringRow]{
	postgres.Field("c.id", ofHead, func(r *offeringRow) *string { return &r.ID }).Cast("", "::text"),
	postgres.Field("c.tenant_id", ofHead, func(r *offeringRow) *string { return &r.TenantID }).Cast("", "::text"),
	postgres.Field("c.brand_id", ofHead, func(r *offeringRow) *string { return &r.BrandID }).Cast("", "::text"),
	postgres.Field("c.name", ofHead, func(r *offeringRow) *string { return &r.Name }),
	postgres.Field(statusNow, ofHead, func(r *offeringRow) *string { return &r.CampaignHead.Status }),
	postgres.Field("c.expires_at", ofHead, func(r *offeringRow) **time.Time { return &r.ExpiresAt }),
	postgres.Field("c.created_at", ofHead, func(r *offeringRow) *time.Time { return &r.CreatedAt }),

	postgres.Field("p.id", ofGift, func(r *offeringRow) **string { return &r.productID }).Cast("", "::text"),
	postgres.Field("coalesce(p.state = 'PUBLISHED', false)", ofGift, func(r *offeringRow) *bool { return &r.Published }),
	postgres.Field("coalesce(p.name, '')", ofGift, func(r *offeringRow) *string { return &r.Text.Name }),
	postgres.Field("coalesce(p.description, '')", ofGift, func(r *offeringRow) *string { return &r.Text.Description }),
	postgres.Field(`coalesce((SELECT jsonb_object_agg(l, p.translations->l)
    FROM unnest($1::text[]) AS l WHERE p.translations ? l), '{}')`,
		ofGift, func(r *offeringRow) *map[string]rules.Text { return &r.translations }),
	// Tenants of a sandbox cannot change details, so sandbox_gifts does not have them.
	postgres.Field(`coalesce((SELECT jsonb_object_agg(l, d.details->l)
    FROM products d, unnest($1::text[]) AS l WHERE d.id = p.id AND d.details ? l), '{}')`,
		ofGift, func(r *offeringRow) *map[string]rules.Details { return &r.details }),
	postgres.Field("coalesce(p.variations, '[]')", ofGift, func(r *offeringRow) *[]rules.Variation { return &r.Variations }),
	postgres.Field("p.available_countries", ofGift, func(r *offeringRow) *[]string { return &r.Countries }),
	postgres.Field("p.images", ofGift, func(r *offeringRow) *[]rules.ShownImage { return &r.Images }),
	postgres.Field("coalesce((SELECT d.image_variations FROM products d WHERE d.id = p.id), '{}')", ofGift,
		func(r *offeringRow) *map[string]map[string]string { return &r.ImageVariations }),
	postgres.Field("coalesce(p.customization_available, false)", ofGift,
		func(r *offeringRow) *bool { return &r.CustomizationAvailable }),
	postgres.Field("p.categories", ofGift, func(r *offeringRow) *[]string { return &r.Categories }),

	// An offering is suspended with its gift, but not if a tenant of the sandbox has unlisted the gift for itself.
	postgres.Field("CASE WHEN o.status = 'ACTIVE' AND p.state <> 'PUBLISHED' THEN 'NEEDS_REVIEW' ELSE coalesce(o.status, '') END",
		ofOffering, func(r *offeringRow) *string { return &r.OfferingView.Status }),
	postgres.Field("coalesce(o.supply_type, '')", ofOffering, func(r *offeringRow) *string { return &r.SupplyType }),
	postgres.Field(`(SELECT coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'variations', s.variations,
      'stock', CASE WHEN o.supply_type = 'STOCKED' THEN s.stock END) ORDER BY s.id), '[]')
    FROM skus s WHERE s.tenant_id = o.tenant_id AND s.campaign_id = o.campaign_id AND s.product_id = o.product_id AND s.offered)`,
		ofOffering, func(r *offeringRow) *[]SKUView { return &r.SKUs }),
	// What a tenant of the sandbox has changed for itself does not count.
	postgres.Field("EXISTS (SELECT FROM products p WHERE p.id = o.product_id AND "+imagesArePublic+")", ofOffering,
		func(r *offeringRow) *bool { return &r.imagesPublic }),
	postgres.Field("EXISTS (SELECT FROM products p WHERE p.id = $2 AND "+imagesArePublic+")", ofOrdered,
		func(r *offeringRow) *bool { return &r.imagesPublic }),
}

var (
	headColumns, giftColumns        = offerings.For(ofHead), offerings.For(ofGift)
	campaignColumns, orderedColumns = offerings.For(ofHead | ofGift | ofOffering), offerings.For(ofGift | ofOrdered)

	selectHeads = `SELECT ` + headColumns.Select() + ` FROM campaigns c`

	// One statement, so that the campaign and its offerings are of the same moment. A campaign without offerings has one row
	// without a gift.
	campaign = newStatement(`SELECT `+campaignColumns.Select()+`
FROM campaigns c
LEFT JOIN offerings o ON o.tenant_id = c.tenant_id AND o.campaign_id = c.id
LEFT JOIN {gifts} p ON p.id = o.product_id
WHERE c.tenant_id = $2 AND c.id = $3
ORDER BY o.position`, 3)
)

// Campaign reads a campaign of a tenant. Each text is in the first of the locales that has it, or else in en-US.
func (s *Store) Campaign(ctx context.Context, tenantID, id string, locales ...string) (CampaignView, bool, error) {
	sql, args := s.forTenant(tenantID, campaign, locales, tenantID, id)
	rows, err := postgres.Select(ctx, s.pool, "read campaign", scanOffering(campaignColumns, locales), sql, args...)
	return campaignOf(rows), len(rows) > 0, err
}

// campaignOf makes a campaign from its rows, without images that the public may not see. Without rows it is empty.
func campaignOf(rows []*offeringRow) (c CampaignView) {
	for _, r := range rows {
		c.CampaignHead = r.CampaignHead
		if !r.imagesPublic {
			r.Images = nil
		}
		if r.productID != nil {
			c.Offerings = append(c.Offerings, r.OfferingView)
		}
	}
	return c
}

// scanOffering reads the columns, with each text in the first of the locales that has it.
func scanOffering(columns postgres.Columns[offeringRow], locales []string) pgx.RowToFunc[*offeringRow] {
	return func(row pgx.CollectableRow) (*offeringRow, error) {
		r := &offeringRow{}
		err := row.Scan(columns.Targets(r)...)
		r.ProductID, r.Text = postgres.Value(r.productID), rules.TextIn(r.Text, r.translations, locales)
		r.Details = rules.DetailsIn(r.details, locales)
		images := postgres.Column(r.Images, func(i rules.ShownImage) string { return i.FileID })
		rules.DropStaleImageVariations(r.ImageVariations, images, r.Variations)
		return r, err
	}
}

// Position of the campaign in a list, newest first.
func (c CampaignHead) Position() page.Position {
	return page.Position{Time: c.CreatedAt, ID: c.ID}
}
