package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	giftSiteColumns = `privacy_url, terms_url, support_url, imprint_url, home_url,
  accent_colour, hero_image_id, typeface, corners, colour_scheme, delivery_times`

	selectGiftSites = `SELECT brand_id, ` + giftSiteColumns + ` FROM gift_sites WHERE tenant_id = $1 ORDER BY brand_id`

	selectGiftSiteState = `SELECT ` + giftSiteColumns + ` FROM gift_sites WHERE tenant_id = $1 AND brand_id = $2`

	upsertGiftSite = `INSERT INTO gift_sites AS s (tenant_id, brand_id, ` + giftSiteColumns + `)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (tenant_id, brand_id) DO UPDATE SET privacy_url = excluded.privacy_url, terms_url = excluded.terms_url,
  support_url = excluded.support_url, imprint_url = excluded.imprint_url, home_url = excluded.home_url,
  accent_colour = excluded.accent_colour, hero_image_id = excluded.hero_image_id,
  typeface = excluded.typeface, corners = excluded.corners, colour_scheme = excluded.colour_scheme, delivery_times = excluded.delivery_times
WHERE (s.privacy_url, s.terms_url, s.support_url, s.imprint_url, s.home_url,
    s.accent_colour, s.hero_image_id, s.typeface, s.corners, s.colour_scheme, s.delivery_times)
  IS DISTINCT FROM (excluded.privacy_url, excluded.terms_url, excluded.support_url, excluded.imprint_url, excluded.home_url,
    excluded.accent_colour, excluded.hero_image_id, excluded.typeface, excluded.corners, excluded.colour_scheme, excluded.delivery_times)`

	selectHasBrand = `SELECT EXISTS (SELECT FROM brands WHERE tenant_id = $1 AND id = $2)`
)

// deliveryTime is how long gifts take to a country.
type deliveryTime struct {
	Country         string `json:"country"`
	MinBusinessDays int32  `json:"minBusinessDays"`
	MaxBusinessDays int32  `json:"maxBusinessDays"`
}

// giftSiteState is what the audit shows of a gift site, in the order of giftSiteColumns.
type giftSiteState struct {
	PrivacyURL    *string        `json:"privacyUrl,omitempty"`
	TermsURL      *string        `json:"termsUrl,omitempty"`
	SupportURL    *string        `json:"supportUrl,omitempty"`
	ImprintURL    *string        `json:"imprintUrl,omitempty"`
	HomeURL       *string        `json:"homeUrl,omitempty"`
	AccentColour  *string        `json:"accentColour,omitempty"`
	HeroImageID   *string        `json:"heroImageId,omitempty"`
	Typeface      string         `json:"typeface"`
	Corners       string         `json:"corners"`
	ColourScheme  string         `json:"colourScheme"`
	DeliveryTimes []deliveryTime `json:"deliveryTimes,omitempty"`
}

func giftSiteStateOf(s *tenantsv1.GiftSite) giftSiteState {
	t := s.GetTheme()
	times := []deliveryTime{} // Not nil, which would become NULL.
	for _, d := range s.GetDeliveryTimes() {
		times = append(times, deliveryTime{d.GetCountry(), d.GetMinBusinessDays(), d.GetMaxBusinessDays()})
	}
	return giftSiteState{
		s.PrivacyUrl, s.TermsUrl, s.SupportUrl, s.ImprintUrl, s.HomeUrl, t.AccentColour, t.HeroImageId, //nolint:protogetter // Absent differs from empty.
		enumname.String(t.GetTypeface()), enumname.String(t.GetCorners()), enumname.String(t.GetColourScheme()), times,
	}
}

// PutGiftSite creates or replaces the gift site of a brand. It fails with ErrNotFound if the tenant has no such brand.
func (s *Store) PutGiftSite(
	ctx context.Context, tenantID string, by By, brandID string, site *tenantsv1.GiftSite,
) (version int64, err error) {
	after := giftSiteStateOf(site)
	e := edit[giftSiteState]{
		by: by, action: tenantsv1.TenantAction_TENANT_ACTION_PUT_GIFT_SITE, subject: brandID, read: selectGiftSiteState, after: after,
	}
	return s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		var known bool
		if err := tx.QueryRow(ctx, selectHasBrand, tenantID, brandID).Scan(&known); err != nil {
			return false, fmt.Errorf("find brand: %w", err)
		}
		if !known {
			return false, ErrNotFound
		}
		return e.put(ctx, tx, tenantID, upsertGiftSite, tenantID, brandID, after.PrivacyURL, after.TermsURL, after.SupportURL,
			after.ImprintURL, after.HomeURL, after.AccentColour, after.HeroImageID, after.Typeface, after.Corners, after.ColourScheme,
			after.DeliveryTimes)
	})
}

func scanGiftSite(row pgx.CollectableRow) (*tenantsv1.BrandGiftSite, error) {
	t := &tenantsv1.Theme{}
	s := &tenantsv1.GiftSite{Theme: t}
	b := &tenantsv1.BrandGiftSite{Site: s}
	var times []deliveryTime
	err := row.Scan(&b.BrandId, &s.PrivacyUrl, &s.TermsUrl, &s.SupportUrl, &s.ImprintUrl, &s.HomeUrl, &t.AccentColour, &t.HeroImageId,
		postgres.ScanEnum(&t.Typeface), postgres.ScanEnum(&t.Corners), postgres.ScanEnum(&t.ColourScheme), &times)
	for _, d := range times {
		s.DeliveryTimes = append(s.DeliveryTimes, &tenantsv1.DeliveryTime{
			Country: d.Country, MinBusinessDays: d.MinBusinessDays, MaxBusinessDays: d.MaxBusinessDays,
		})
	}
	return b, err
}
