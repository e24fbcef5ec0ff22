package giftsite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html/atom"
	"google.golang.org/protobuf/proto"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func withDarkLogo(scheme tenantsv1.ColourScheme) *tenantsv1.GiftSite {
	return &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{ColourScheme: scheme, DarkLogoImageId: proto.String("dark-logo")}}
}

func TestDarkPagesShowTheLogoThatIsForThem(t *testing.T) {
	t.Parallel()
	const light, dark = public + "/catalog/images/logo", public + "/catalog/images/dark-logo"
	f := setup(t)
	shown := func() (source map[string]string) {
		page := f.get("").body
		require.Contains(t, page, `<img class="logo" src="`+light+`" alt="Nordlys Casino">`, "where nothing is dark, as on paper")
		for _, source = range headOf(t, page, atom.Source) {
			require.Equal(t, dark, source["srcset"])
		}
		return source
	}
	require.Nil(t, shown(), "the brand has none")
	for scheme, media := range map[tenantsv1.ColourScheme]string{
		tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO: "screen and (prefers-color-scheme:dark)",
		tenantsv1.ColourScheme_COLOUR_SCHEME_DARK: "screen",
	} {
		f.page.Brand.Site = withDarkLogo(scheme)
		require.Equal(t, media, shown()["media"])
		require.Contains(t, f.get("").body, "@media "+media+"{:root{color-scheme:dark", "it changes with the colours")
	}
	f.page.Brand.Site = withDarkLogo(tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT)
	require.Nil(t, shown(), "no page is dark")
	f.page.Brand.Site, f.page.Brand.LogoUrl = withDarkLogo(tenantsv1.ColourScheme_COLOUR_SCHEME_DARK), nil
	require.Contains(t, f.get("").body, `<p class="brand">Nordlys Casino</p>`)
}

// Where pages are dark, a logo has a light plate, unless it is for dark pages.
func TestALogoThatIsNotForDarkPagesHasALightPlate(t *testing.T) {
	t.Parallel()
	css := string(styleSheet)
	require.Contains(t, darkNeutrals, "--chip:#fff;")
	require.Regexp(t, `(?m)^\.logo \{ .*background: var\(--chip\);`, css)
	_, after, found := strings.Cut(css, "background: var(--chip);")
	require.True(t, found)
	require.Contains(t, after, "source + .logo { background: none; }")
}

func TestThePictureOfALinkHasTheDarkLogoOnlyIfAllPagesAreDark(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for scheme, want := range map[tenantsv1.ColourScheme]string{
		tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO: "-logo", tenantsv1.ColourScheme_COLOUR_SCHEME_DARK: "-dark-logo",
	} {
		f.page.Brand.Site = withDarkLogo(scheme)
		require.Contains(t, f.get("").body, `<meta property="og:image" content="`+public+`/catalog/images/`+want+`">`)
	}
	f.page.Brand.Site.Theme.DarkLogoImageId = nil
	f.page.Brand.Site.Theme.ColourScheme = tenantsv1.ColourScheme_COLOUR_SCHEME_DARK
	require.Contains(t, f.get("").body, `content="`+public+`/catalog/images/-logo">`)
}

func TestAPreviewOnADarkDeviceShowsTheDarkLogo(t *testing.T) {
	t.Parallel()
	page := openPage()
	page.Brand.Site = withDarkLogo(tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO)
	s := setup(t).site
	for device, media := range map[tenantsv1.ColourScheme]string{
		tenantsv1.ColourScheme_COLOUR_SCHEME_DARK: "screen", tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT: "not all",
		tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO: "screen and (prefers-color-scheme:dark)",
	} {
		c := &catalog{size: 100}
		content, err := s.Preview(t.Context(), Preview{Page: pageOfReview, Link: page, Device: device, Picture: c.picture})
		require.NoError(t, err)
		requireSelfContained(t, string(content))
		require.Contains(t, c.read, "dark-logo")
		require.Contains(t, string(content), `<source media="`+media+`" srcset="data:image/jpeg;base64,AAA`)
	}
	t.Run("unless it does not exist", func(t *testing.T) {
		document := previewed(t, pageOfReview, page, &catalog{size: MaxPreview})
		require.NotContains(t, document, "<source")
		require.Equal(t, "dark-logo", page.GetBrand().GetSite().GetTheme().GetDarkLogoImageId(), "the page is the caller's")
	})
}
