package server_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestThePageOfAPreview(t *testing.T) {
	t.Parallel()
	f := setup(t)
	saved := &tenantsv1.GiftSite{
		PrivacyUrl: new("https://saved.example/privacy"), Theme: &tenantsv1.Theme{HeroImageId: new(strings.Repeat("0a", 16))},
	}
	f.setSite(saved)
	request := func(change func(r *linksv1.GetPreviewPageRequest)) *linksv1.GetPreviewPageRequest {
		r := &linksv1.GetPreviewPageRequest{TenantId: f.tenant, BrandId: f.brand}
		change(r)
		return r
	}
	page := func(t *testing.T, change func(r *linksv1.GetPreviewPageRequest)) *linksv1.GetClaimPageResponse {
		t.Helper()
		got, err := f.site.GetPreviewPage(t.Context(), request(change))
		require.NoError(t, err)
		return got.GetPage()
	}
	t.Run("has the saved site and its picture, and no gifts", func(t *testing.T) {
		got := page(t, func(*linksv1.GetPreviewPageRequest) {})
		require.True(t, proto.Equal(saved, got.GetBrand().GetSite()))
		require.Equal(t, "North Club", got.GetBrand().GetName())
		require.Equal(t, "en-US", got.GetLocale())
		require.Len(t, got.GetBrand().GetHero(), 1)
		require.Empty(t, got.GetGifts())
		require.Empty(t, got.GetLabel())
	})
	t.Run("has the proposed site, the campaign's gifts and the proposed greeting", func(t *testing.T) {
		got := page(t, func(r *linksv1.GetPreviewPageRequest) {
			r.Site, r.CampaignId, r.Locale = &tenantsv1.GiftSite{HomeUrl: new("https://new.example")}, &f.campaign, new("sv-SE")
			r.Greeting = new("Hej\ndu")
		})
		require.Equal(t, "https://new.example", got.GetBrand().GetSite().GetHomeUrl())
		require.Nil(t, got.GetBrand().GetSite().PrivacyUrl)
		require.Empty(t, got.GetBrand().GetHero(), "it has no picture")
		require.Equal(t, "Hej\ndu", got.GetGreeting())
		require.Equal(t, "sv-SE", got.GetLocale())
		require.Len(t, got.GetGifts(), 2)
	})
	for name, tc := range map[string]struct {
		change func(r *linksv1.GetPreviewPageRequest)
		want   []string
	}{
		"ids that are none": {
			func(r *linksv1.GetPreviewPageRequest) { r.TenantId, r.BrandId, r.CampaignId = "x", "", new("x") },
			[]string{"tenantId invalid", "brandId required", "campaignId invalid"},
		},
		"pictures that the brand does not have": {
			func(r *linksv1.GetPreviewPageRequest) {
				unknown := strings.Repeat("0b", 16)
				r.Site = &tenantsv1.GiftSite{
					Theme:  &tenantsv1.Theme{DarkLogoImageId: &unknown},
					Sender: &tenantsv1.Sender{PortraitImageId: &unknown, SignatureImageId: new(knownPicture)},
				}
			},
			[]string{"site.theme.darkLogoImageId invalid", "site.sender.portraitImageId invalid"},
		},
		"a locale not enabled": {func(r *linksv1.GetPreviewPageRequest) { r.Locale = new("de-DE") }, []string{"locale not_enabled"}},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := f.site.GetPreviewPage(t.Context(), request(tc.change))
			requireViolations(t, err, tc.want...)
		})
	}
	t.Run("finds neither unknown tenants, nor unknown brands, nor campaigns of others", func(t *testing.T) {
		_, err := f.site.GetPreviewPage(t.Context(), request(func(r *linksv1.GetPreviewPageRequest) { r.TenantId = uuid.NewString() }))
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		_, err = f.site.GetPreviewPage(t.Context(), request(func(r *linksv1.GetPreviewPageRequest) { r.BrandId = uuid.NewString() }))
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		f.catalog.closed = true
		_, err = f.site.GetPreviewPage(t.Context(),
			request(func(r *linksv1.GetPreviewPageRequest) { r.CampaignId = new(uuid.NewString()) }))
		require.True(t, problem.Is(err, problem.CampaignNotFound), "%v", err)
	})
}
