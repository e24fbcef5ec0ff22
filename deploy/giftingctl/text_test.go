package giftingctl

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const previewed = "<!DOCTYPE html>\n<title>Ett paket</title>\n"

func TestAPreviewIsPrintedAsItIsOrWrittenToAFile(t *testing.T) {
	t.Parallel()
	asked := make(chan *giftsitev1.PreviewGiftSiteRequest, 1)
	services := giftingctltest.Start(t, func(_ string, req proto.Message) (proto.Message, error) {
		asked <- req.(*giftsitev1.PreviewGiftSiteRequest)
		return &giftsitev1.PreviewGiftSiteResponse{Html: previewed}, nil
	})
	preview := func(t *testing.T, args ...string) (*giftsitev1.PreviewGiftSiteRequest, string) {
		t.Helper()
		code, out, errs := runLine(t, services.Config, append([]string{"links", "preview"}, args...)...)
		require.Zero(t, code, errs)
		return <-asked, out
	}
	t.Run("of the saved site", func(t *testing.T) {
		req, out := preview(t, "address-errors", "--brand-id", "north", "--campaign-id", "c", "--locale", "sv-SE", "--device", "dark",
			"--greeting", "Hej")
		require.Equal(t, previewed, out)
		require.Equal(t, giftsitev1.PreviewPage_PREVIEW_PAGE_ADDRESS_ERRORS, req.GetPage())
		require.Equal(t, giftingctltest.Tenant, req.GetTenantId())
		require.Equal(t, []string{"north", "c", "sv-SE", "Hej"},
			[]string{req.GetBrandId(), req.GetCampaignId(), req.GetLocale(), req.GetGreeting()})
		require.Equal(t, tenantsv1.ColourScheme_COLOUR_SCHEME_DARK, req.GetDevice())
		require.Nil(t, req.GetSite(), "no flag of a site: the saved one")
	})
	t.Run("of a proposed site, from flags and from a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "site.json")
		require.NoError(t, os.WriteFile(file,
			[]byte(`{"site": {"privacyUrl": "https://north.example", "theme": {"corners": "CORNER_STYLE_ROUND"}}}`), 0o600))
		req, _ := preview(t, "gift", "--brand-id", "north", "-f", file, "--theme.typeface", "serif")
		require.Equal(t, "https://north.example", req.GetSite().GetPrivacyUrl())
		require.Equal(t, tenantsv1.CornerStyle_CORNER_STYLE_ROUND, req.GetSite().GetTheme().GetCorners())
		require.Equal(t, tenantsv1.Typeface_TYPEFACE_SERIF, req.GetSite().GetTheme().GetTypeface())
	})
	t.Run("into a file, which it replaces", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "page.html")
		for range 2 {
			_, out := preview(t, "gift", "--brand-id", "north", "--out", file)
			require.Empty(t, out)
		}
		written, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, previewed, string(written))
	})
	t.Run("as JSON", func(t *testing.T) {
		_, out := preview(t, "gift", "--brand-id", "north", "-o", "json")
		require.Contains(t, out, `"html":`)
	})
}

func TestWarningsAreSaidBesideWhatAResponseShows(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		return &tenantsv1.PutTenantResponse{
			Tenant: &tenantsv1.Tenant{Name: "Fjord", Currency: "JPY"}, Warnings: []string{"There is no rate.", "There are no texts."},
		}, nil
	})
	put := []string{"tenants", "put", giftingctltest.Tenant, "--name", "Fjord", "--currency", "JPY", "--api-access"}
	code, out, errs := runLine(t, services.Config, put...)
	require.Zero(t, code, errs)
	require.Regexp(t, `(?m)^name +Fjord$`, out)
	require.NotContains(t, out, "arning")
	require.Contains(t, errs, "Warning: There is no rate.\nWarning: There are no texts.\n")
	_, out, _ = runLine(t, services.Config, append(put, "-o", "json")...)
	require.Contains(t, out, "There is no rate.")
}
