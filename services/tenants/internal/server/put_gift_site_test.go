package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func siteOf(f *fixture, tenantID, brandID string) *tenantsv1.GiftSite {
	for _, s := range f.settings(tenantID).GetGiftSites() {
		if s.GetBrandId() == brandID {
			return s.GetSite()
		}
	}
	return nil
}

func fullSite() *tenantsv1.GiftSite {
	return &tenantsv1.GiftSite{
		PrivacyUrl: pointer("https://aurora.example/privacy?lang=sv"), TermsUrl: pointer("https://aurora.example/terms"),
		SupportUrl: pointer("mailto:help@aurora.example"), ImprintUrl: pointer("https://aurora.example/imprint"),
		HomeUrl: pointer("https://aurora.example/vip"),
		Theme: &tenantsv1.Theme{
			AccentColour: pointer("#C8102E"), HeroImageId: pointer(strings.Repeat("0a", 16)),
			Typeface: tenantsv1.Typeface_TYPEFACE_SERIF, Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
			ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_DARK,
		},
		DeliveryTimes: []*tenantsv1.DeliveryTime{
			{Country: "SE", MinBusinessDays: 2, MaxBusinessDays: 4}, {Country: "DE", MinBusinessDays: 60, MaxBusinessDays: 60},
		},
	}
}

func TestPutGiftSite(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	tenant, other := f.tenant(), f.tenant()
	brand, theirs := f.brand(tenant, "Aurora"), f.brand(other, "Borealis")
	put := func(tenantID, brandID string, site *tenantsv1.GiftSite) *tenantsv1.PutGiftSiteRequest {
		return &tenantsv1.PutGiftSiteRequest{Actor: staff, TenantId: tenantID, BrandId: brandID, Site: site}
	}
	t.Run("a site is put, replaced, audited, and not changed by a repetition or by its brand", func(t *testing.T) {
		call(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{}))
		require.JSONEq(t, `{"after": {"corners": "SOFT", "typeface": "SYSTEM", "colourScheme": "AUTO"}}`, f.tenantAudit(tenant)[0].GetDetail(),
			"what is absent has its default")
		call(t, f.ops.PutGiftSite, put(tenant, brand, fullSite()))
		version, entries := f.settings(tenant).GetVersion(), len(f.tenantAudit(tenant))
		require.Equal(t, fullSite().String(), siteOf(f, tenant, brand).String())
		require.Equal(t, brand, f.tenantAudit(tenant)[0].GetSubjectId())
		require.Equal(t, tenantsv1.TenantAction_TENANT_ACTION_PUT_GIFT_SITE, f.tenantAudit(tenant)[0].GetAction())
		require.Contains(t, f.tenantAudit(tenant)[0].GetDetail(), `"privacyUrl": "https://aurora.example/privacy?lang=sv"`)
		require.Contains(t, f.tenantAudit(tenant)[0].GetDetail(), `"minBusinessDays": 2`)

		call(t, f.ops.PutGiftSite, put(tenant, brand, fullSite()))
		require.Equal(t, version, f.settings(tenant).GetVersion())
		require.Len(t, f.tenantAudit(tenant), entries)
		call(t, f.ops.PutBrand, &tenantsv1.PutBrandRequest{
			Actor: staff, TenantId: tenant, Brand: &tenantsv1.Brand{Id: brand, Name: "Aurora Club", Slug: "aurora"},
		})
		require.Equal(t, fullSite().String(), siteOf(f, tenant, brand).String())
		read, err := f.ops.GetTenant(t.Context(), &tenantsv1.GetTenantRequest{Actor: staff, TenantId: tenant})
		require.NoError(t, err)
		require.Len(t, read.GetGiftSites(), 1)
		require.Equal(t, fullSite().String(), read.GetGiftSites()[0].GetSite().String())
	})
	t.Run("delivery times alone are a change, and can be removed", func(t *testing.T) {
		version, site := f.settings(tenant).GetVersion(), fullSite()
		site.DeliveryTimes[0].MaxBusinessDays++
		call(t, f.ops.PutGiftSite, put(tenant, brand, site))
		require.Greater(t, f.settings(tenant).GetVersion(), version)
		require.Equal(t, site.String(), siteOf(f, tenant, brand).String())
		site.DeliveryTimes = nil
		call(t, f.ops.PutGiftSite, put(tenant, brand, site))
		require.Empty(t, siteOf(f, tenant, brand).GetDeliveryTimes())
		call(t, f.ops.PutGiftSite, put(tenant, brand, fullSite()))
	})
	t.Run("the brand of another tenant is not found and changes nothing", func(t *testing.T) {
		before := f.settings(other).String()
		refused(t, problem.NotFound, f.ops.PutGiftSite, put(tenant, theirs, fullSite()))
		refused(t, problem.NotFound, f.ops.PutGiftSite, put(tenant, newID(), fullSite()))
		refused(t, problem.NotFound, f.ops.PutGiftSite, put(newID(), brand, fullSite()))
		require.Equal(t, before, f.settings(other).String())
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutGiftSite, put("x", "", nil), "tenantId invalid", "brandId required", "site required")
		invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{
			PrivacyUrl: pointer("http://aurora.example/privacy"), TermsUrl: pointer("https://user:secret@aurora.example"),
			SupportUrl: pointer("mailto:help@aurora.example?bcc=x@example.com"), ImprintUrl: pointer("https://aurora.example/a b"),
			HomeUrl: pointer("https://aurora.example/" + strings.Repeat("a", 2048)),
			Theme: &tenantsv1.Theme{
				AccentColour: pointer("red"), HeroImageId: pointer("../x"), Typeface: 99, Corners: 99, ColourScheme: 99,
			},
		}), "site.privacyUrl invalid", "site.termsUrl invalid", "site.supportUrl invalid", "site.imprintUrl invalid",
			"site.homeUrl too_long", "site.theme.accentColour invalid", "site.theme.heroImageId invalid",
			"site.theme.typeface invalid", "site.theme.corners invalid", "site.theme.colourScheme invalid")
		for _, bad := range []string{
			"https://", "javascript:alert(1)", "//aurora.example", "https://aurora.example\\@example.com", "https://aurora.example/\n",
			"https://aurora.example/\u202e", "data:text/html,x", "mailto:help@aurora.example",
		} {
			invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{HomeUrl: &bad}), "site.homeUrl invalid")
		}
		for _, bad := range []string{"mailto:", "mailto:help", "mailto:a@b.example,c@d.example", "tel:+46701234567", "http://aurora.example"} {
			invalid(t, f.ops.PutGiftSite, put(tenant, brand, &tenantsv1.GiftSite{SupportUrl: &bad}), "site.supportUrl invalid")
		}
		require.Equal(t, fullSite().String(), siteOf(f, tenant, brand).String())
	})
}
