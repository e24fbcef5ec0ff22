package giftingctl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const logo = "https://api.example/api/public/v1/catalog/images/0123456789abcdef0123456789abcdef"

// aCampaign answers the calls of a preview.
func aCampaign(method string, _ proto.Message) (proto.Message, error) {
	switch method {
	case tenantsv1.TenantOperationsService_GetTenant_FullMethodName:
		return &tenantsv1.GetTenantResponse{
			Brands:    []*tenantsv1.Brand{{Id: "north", Name: "North Club", LogoUrl: new(logo)}, {Id: "south", Name: "South"}},
			GiftSites: []*tenantsv1.BrandGiftSite{{BrandId: "north", Site: &tenantsv1.GiftSite{PrivacyUrl: new("https://saved.example/privacy")}}},
		}, nil
	case catalogv1.CampaignOperationsService_GetCampaignRecord_FullMethodName:
		return &catalogv1.GetCampaignRecordResponse{Record: &catalogv1.CampaignRecord{
			Greetings: []*catalogv1.CampaignGreeting{{Locale: "en-US", Text: "Welcome"}, {Locale: "sv-SE", Text: "Välkommen"}},
			Offerings: []*catalogv1.OfferingRecord{
				{ProductId: "jersey", Skus: []*catalogv1.Sku{{Variations: map[string]string{"Size": "S"}}, {Variations: map[string]string{"Size": "M"}}}},
			},
		}}, nil
	case catalogv1.ProductOperationsService_GetProductRecord_FullMethodName:
		return &catalogv1.GetProductRecordResponse{Record: &catalogv1.ProductRecord{Product: &catalogv1.PutProductRequest{
			Id: "jersey", Name: "Jersey", AvailableCountries: []string{"SE"}, ImageFileIds: []string{"feed"},
			Variations: []*catalogv1.Variation{{Dimension: "Size", Values: []string{"S", "M"}}},
			Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Tröja", Variations: []*catalogv1.VariationTranslation{
				{Dimension: "Size", Name: "Storlek", Values: map[string]string{"S": "Liten"}},
			}}},
		}}}, nil
	}
	return nil, nil //nolint:nilnil // The empty response.
}

func TestPreviewWritesAPageWithoutALink(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, aCampaign)
	preview := func(args ...string) (code int, html, errs string) {
		return runLine(t, services.Config, append([]string{"links", "preview", "--brand", "north", "--campaign", "c"}, args...)...)
	}
	t.Run("with the saved site, in the words of the locale", func(t *testing.T) {
		code, html, errs := preview("gift", "--locale", "sv-FI")
		require.Zero(t, code, errs)
		require.Contains(t, html, "Tröja")
		require.Contains(t, html, "Storlek")
		require.Contains(t, html, "Liten")
		require.Contains(t, html, "https://saved.example/privacy")
		require.Contains(t, html, "https://api.example/api/public/v1/catalog/images/feed")
		_, html, _ = preview("greeting", "--locale", "de-DE", "--label", "Kim")
		require.Contains(t, html, "Welcome", "a missing greeting is in English")
		require.Contains(t, html, "Ein Geschenk für Kim")
	})
	t.Run("with a proposed site, into a file", func(t *testing.T) {
		dir := t.TempDir()
		site, out := filepath.Join(dir, "site.json"), filepath.Join(dir, "page.html")
		require.NoError(t, os.WriteFile(site, []byte(`{"privacyUrl": "https://proposed.example", "theme": {"corners": "CORNER_STYLE_ROUND"}}`), 0o600))
		code, _, errs := preview("review", "--site", site, "--out", out)
		require.Zero(t, code, errs)
		html, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Contains(t, string(html), "https://proposed.example")
		require.NotContains(t, string(html), "https://saved.example")
	})
	t.Run("what is wrong is said", func(t *testing.T) {
		for want, args := range map[string][]string{
			"it is one of greeting": {"home"},
			"has no such brand":     {"gift", "--brand", "east"},
			"set --public-url":      {"gift", "--brand", "south"},
			"no such file":          {"gift", "--site", "missing.json"},
		} {
			code, html, errs := preview(args...)
			require.Equal(t, 2, code)
			require.Empty(t, html)
			require.Contains(t, errs, want)
		}
	})
	for _, method := range services.Calls() {
		require.Regexp(t, "/Get", method, "a preview only reads")
	}
}
