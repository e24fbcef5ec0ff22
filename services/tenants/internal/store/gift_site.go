package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// giftSiteRow is the gift site of a brand.
type giftSiteRow struct {
	*tenantsv1.GiftSite

	theme             *tenantsv1.Theme
	sender            *tenantsv1.Sender
	tenantID, brandID string
	times             []deliveryTime
}

// deliveryTime is how long gifts take to a country.
type deliveryTime struct {
	Country         string `json:"country"`
	MinBusinessDays int32  `json:"minBusinessDays"`
	MaxBusinessDays int32  `json:"maxBusinessDays"`
}

var giftSites = setting[giftSiteRow]{
	table: "gift_sites", conflict: "tenant_id, brand_id", condition: "tenant_id = $1 AND brand_id = $2",
	action: tenantsv1.TenantAction_TENANT_ACTION_PUT_GIFT_SITE,
	columns: postgres.Columns[giftSiteRow]{
		postgres.Field("tenant_id", written, func(r *giftSiteRow) *string { return &r.tenantID }),
		postgres.Field("brand_id", written|shown, func(r *giftSiteRow) *string { return &r.brandID }),
		postgres.Field("privacy_url", setUp, func(r *giftSiteRow) **string { return &r.PrivacyUrl }),
		postgres.Field("terms_url", setUp, func(r *giftSiteRow) **string { return &r.TermsUrl }),
		postgres.Field("support_url", written|changed|shown, func(r *giftSiteRow) **string { return &r.SupportUrl }),
		postgres.Field("imprint_url", setUp, func(r *giftSiteRow) **string { return &r.ImprintUrl }),
		postgres.Field("home_url", setUp, func(r *giftSiteRow) **string { return &r.HomeUrl }),
		postgres.Field("accent_colour", setUp, func(r *giftSiteRow) **string { return &r.theme.AccentColour }),
		postgres.Field("hero_image_id", setUp, func(r *giftSiteRow) **string { return &r.theme.HeroImageId }),
		postgres.EnumField("typeface", setUp, func(r *giftSiteRow) *tenantsv1.Typeface { return &r.theme.Typeface }),
		postgres.EnumField("corners", setUp, func(r *giftSiteRow) *tenantsv1.CornerStyle { return &r.theme.Corners }),
		postgres.EnumField("colour_scheme", setUp, func(r *giftSiteRow) *tenantsv1.ColourScheme { return &r.theme.ColourScheme }),
		postgres.Field("delivery_times", setUp, func(r *giftSiteRow) *[]deliveryTime { return &r.times }),
		postgres.Field("dark_logo_image_id", setUp, func(r *giftSiteRow) **string { return &r.theme.DarkLogoImageId }),
		postgres.Field("without_thanks", setUp, func(r *giftSiteRow) *bool { return &r.WithoutThanks }),
		postgres.Field("sender_name", written|changed|shown, func(r *giftSiteRow) **string { return &r.sender.Name }),
		postgres.Field("portrait_image_id", setUp, func(r *giftSiteRow) **string { return &r.sender.PortraitImageId }),
		postgres.Field("signature_image_id", setUp, func(r *giftSiteRow) **string { return &r.sender.SignatureImageId }),
	},
	blank: func() *giftSiteRow {
		return &giftSiteRow{GiftSite: &tenantsv1.GiftSite{}, theme: &tenantsv1.Theme{}, sender: &tenantsv1.Sender{}}
	},
}.prepared()

var selectGiftSites = giftSites.read + ` WHERE tenant_id = $1 ORDER BY brand_id`

const selectHasBrand = `SELECT EXISTS (SELECT FROM brands WHERE tenant_id = $1 AND id = $2)`

// PutGiftSite creates or replaces the gift site of a brand. It fails with ErrNotFound if the tenant has no such brand.
func (s *Store) PutGiftSite(
	ctx context.Context, tenantID string, by Authorization, brandID string, site *tenantsv1.GiftSite,
) (version int64, err error) {
	after := &giftSiteRow{
		GiftSite: site, theme: site.GetTheme(), sender: cmp.Or(site.GetSender(), &tenantsv1.Sender{}),
		tenantID: tenantID, brandID: brandID, times: []deliveryTime{},
	}
	for _, d := range site.GetDeliveryTimes() {
		after.times = append(after.times, deliveryTime{d.GetCountry(), d.GetMinBusinessDays(), d.GetMaxBusinessDays()})
	}
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		var known bool
		if err := tx.QueryRow(ctx, selectHasBrand, tenantID, brandID).Scan(&known); err != nil {
			return false, fmt.Errorf("find brand: %w", err)
		}
		if !known {
			return false, ErrNotFound
		}
		return giftSites.put(ctx, tx, by, tenantID, brandID, after)
	})
}

func scanGiftSite(row pgx.CollectableRow) (*tenantsv1.BrandGiftSite, error) {
	r, err := giftSites.scan(row)
	r.Theme = r.theme
	if proto.Size(r.sender) > 0 {
		r.Sender = r.sender
	}
	for _, d := range r.times {
		r.DeliveryTimes = append(r.DeliveryTimes, &tenantsv1.DeliveryTime{
			Country: d.Country, MinBusinessDays: d.MinBusinessDays, MaxBusinessDays: d.MaxBusinessDays,
		})
	}
	return &tenantsv1.BrandGiftSite{BrandId: r.brandID, Site: r.GiftSite}, err
}
