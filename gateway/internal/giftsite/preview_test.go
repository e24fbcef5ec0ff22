package giftsite

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	pageOfGreeting = giftsitev1.PreviewPage_PREVIEW_PAGE_GREETING
	pageOfChoose   = giftsitev1.PreviewPage_PREVIEW_PAGE_CHOOSE
	pageOfGift     = giftsitev1.PreviewPage_PREVIEW_PAGE_GIFT
	pageOfReview   = giftsitev1.PreviewPage_PREVIEW_PAGE_REVIEW
)

// catalog has an image at each address, of size bytes. It records what was read.
type catalog struct {
	size int
	read []string
}

func (c *catalog) picture(_ context.Context, address string, limit int) (string, error) {
	c.read = append(c.read, strings.TrimPrefix(address, public+"/catalog/images/"))
	content := "data:image/jpeg;base64," + strings.Repeat("A", c.size)
	if len(content) > limit {
		return "", nil
	}
	return content, nil
}

// previewed is the document of a page.
func previewed(t *testing.T, page giftsitev1.PreviewPage, link *linksv1.GetClaimPageResponse, c *catalog) string {
	t.Helper()
	content, err := setup(t).site.Preview(t.Context(), Preview{Page: page, Link: link, Picture: c.picture})
	require.NoError(t, err)
	requireSelfContained(t, string(content))
	return string(content)
}

// requireSelfContained requires that a document loads nothing, leads nowhere and has a policy that says so.
func requireSelfContained(t *testing.T, content string) {
	t.Helper()
	require.LessOrEqual(t, len(content), MaxPreview)
	root, err := html.Parse(strings.NewReader(content))
	require.NoError(t, err)
	var style, policy string
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Script, atom.Form, atom.Iframe, atom.Object, atom.Embed, atom.Base, atom.Frame, atom.Noscript:
			require.Fail(t, "a document has no "+n.Data)
		case atom.A:
			require.NotEqual(t, "skip", attribute(n, "class"), "it would lead nowhere")
		case atom.Style:
			require.Empty(t, style, "one style")
			style = n.FirstChild.Data
		case atom.Meta:
			if attribute(n, "http-equiv") != "" {
				require.Equal(t, "Content-Security-Policy", attribute(n, "http-equiv"))
				require.Equal(t, atom.Head, n.Parent.DataAtom)
				require.Nil(t, n.PrevSibling, "before anything that it forbids")
				policy = attribute(n, "content")
			}
		default:
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style", a.Key)
			switch a.Key {
			case "href", "src", "srcset":
				require.True(t, strings.HasPrefix(a.Val, "data:"), a.Val)
			case "imagesrcset", "action", "formaction", "method", "autofocus", "ping", "poster", "background", "data", "cite",
				"xlink:href":
				require.Fail(t, a.Key+" in "+n.Data)
			}
		}
	}
	require.Equal(t, "default-src 'none'; style-src "+hashOf(style)+
		"; img-src data:; font-src data:; form-action 'none'; base-uri 'none'", policy)
	require.NotContains(t, style, "@import")
	for _, loaded := range regexp.MustCompile(`url\(.{0,10}`).FindAllString(style, -1) {
		require.True(t, strings.HasPrefix(loaded, "url(data:"), loaded)
	}
}

func TestEveryPageCanBePreviewedInEveryLanguage(t *testing.T) {
	t.Parallel()
	page, s := openPage(), setup(t).site
	page.Brand.Site = &tenantsv1.GiftSite{
		PrivacyUrl: new("https://nordlys.example/privacy"), SupportUrl: new("mailto:help@nordlys.example"),
		HomeUrl: new("https://nordlys.example"),
		Theme:   &tenantsv1.Theme{Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND, Typeface: tenantsv1.Typeface_TYPEFACE_SERIF},
		Sender:  withSender().GetSender(),
	}
	before := proto.CloneOf(page)
	for _, d := range read(t).byLocale {
		page.Locale = d.locale
		seen := map[string]string{}
		for number := 1; number < len(giftsitev1.PreviewPage_name); number++ {
			shown := giftsitev1.PreviewPage(number)
			name := shown.String()
			content, err := s.Preview(t.Context(), Preview{Page: shown, Link: page, Picture: (&catalog{size: 100}).picture})
			require.NoError(t, err, name)
			document := string(content)
			require.Regexp(t, `(?s)^<!DOCTYPE html>.*</html>\s*$`, document, name)
			require.Contains(t, document, `<html lang="`+d.locale+`"`, name)
			require.NotRegexp(t, `\{[a-z]+\}`, regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(document, ""),
				"%s %s: a placeholder is left", d.locale, name)
			require.Empty(t, seen[document], "%s is like another page", name)
			seen[document] = name
			requireSelfContained(t, document)
		}
	}
	page.Locale = before.GetLocale()
	require.True(t, proto.Equal(before, page), "the page is the caller's")
}

func TestAPreviewHasTheFontOfItsTheme(t *testing.T) {
	t.Parallel()
	page := openPage()
	require.NotContains(t, previewed(t, pageOfReview, page, &catalog{}), "data:font/woff2")
	page.Brand.Site = &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{Typeface: tenantsv1.Typeface_TYPEFACE_GROTESK}}
	document := previewed(t, pageOfReview, page, &catalog{})
	require.Equal(t, 2, strings.Count(document, "url(data:font/woff2;base64,"))
	require.NotContains(t, document, "font-display:optional", "it waits for its fonts, which are inside")
}

func TestAPreviewLooksAsOnTheDevice(t *testing.T) {
	t.Parallel()
	s := setup(t).site
	for device, want := range map[tenantsv1.ColourScheme]string{
		tenantsv1.ColourScheme_COLOUR_SCHEME_DARK:  "@media screen{:root{color-scheme:dark",
		tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT: "@media not all{:root{color-scheme:dark",
		tenantsv1.ColourScheme_COLOUR_SCHEME_AUTO:  "@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark",
	} {
		content, err := s.Preview(t.Context(), Preview{Page: pageOfGift, Link: openPage(), Device: device, Picture: (&catalog{}).picture})
		require.NoError(t, err)
		require.Contains(t, string(content), want)
	}
	dark := openPage()
	dark.Brand.Site = &tenantsv1.GiftSite{Theme: &tenantsv1.Theme{ColourScheme: tenantsv1.ColourScheme_COLOUR_SCHEME_DARK}}
	content, err := s.Preview(t.Context(), Preview{
		Page: pageOfGift, Link: dark, Device: tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT, Picture: (&catalog{}).picture,
	})
	require.NoError(t, err)
	require.Contains(t, string(content), "@media screen{:root{color-scheme:dark", "the theme does not leave it to the device")
}

// renditions are the images of a picture: its renditions in these widths, and the original.
func renditions(name string, widths ...int32) (images []*linksv1.ClaimImage) {
	for _, width := range widths {
		images = append(images, &linksv1.ClaimImage{Url: fmt.Sprintf("%s/catalog/images/%s-%d", public, name, width), Width: new(width)})
	}
	return append(images, &linksv1.ClaimImage{Url: public + "/catalog/images/" + name})
}

func TestAPreviewReadsTheSmallestPictureThatIsWideEnough(t *testing.T) {
	t.Parallel()
	page, c := openPage(), &catalog{size: 1000}
	page.Greeting = new("Welcome")
	page.Brand.Hero = renditions("hero", 320, 640, 1280)
	require.Equal(t, 2, strings.Count(previewed(t, pageOfGreeting, page, c), `src="data:image/jpeg`))
	require.Equal(t, []string{"logo", "hero-1280"}, c.read)
	for name, tc := range map[string]struct {
		widths []int32
		want   string
	}{
		"with all widths": {[]int32{320, 640, 1280}, "cup-640"},
		"of a small one":  {[]int32{320}, "cup-320"},
		"without any":     {nil, "cup"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &catalog{size: 1000}
			page := openPage()
			page.Gifts[0].Images = renditions("cup", tc.widths...)
			previewed(t, pageOfReview, page, c)
			require.Equal(t, []string{"logo", tc.want}, c.read)
		})
	}
	t.Run("and a narrower one if it does not fit", func(t *testing.T) {
		page, asked := openPage(), []string(nil)
		page.Gifts[0].Images = renditions("cup", 320, 640)
		content, err := setup(t).site.Preview(t.Context(), Preview{Page: pageOfReview, Link: page, Picture: func(
			_ context.Context, address string, _ int,
		) (string, error) {
			asked = append(asked, strings.TrimPrefix(address, public+"/catalog/images/"))
			if strings.HasSuffix(address, "320") {
				return "data:image/png;base64,c21hbGw=", nil
			}
			return "", nil
		}})
		require.NoError(t, err)
		require.Equal(t, []string{"logo", "cup-640", "cup-320"}, asked)
		require.Contains(t, string(content), `src="data:image/png;base64,c21hbGw="`)
	})
}

func TestAPictureThatCannotBeReadIsLeftOutAsIfThereWereNone(t *testing.T) {
	t.Parallel()
	none := func(context.Context, string, int) (string, error) { return "", nil }
	content, err := setup(t).site.Preview(t.Context(), Preview{Page: pageOfChoose, Link: openPage(), Picture: none})
	require.NoError(t, err)
	requireSelfContained(t, string(content))
	require.NotContains(t, string(content), "<img")
	require.Contains(t, string(content), `<p class="brand">Nordlys Casino</p>`, "the name instead of the logo")
	require.Equal(t, 3, strings.Count(string(content), `class="picture blank"`))
	failing := func(context.Context, string, int) (string, error) { return "", problem.Unavailable() }
	_, err = setup(t).site.Preview(t.Context(), Preview{Page: pageOfChoose, Link: openPage(), Picture: failing})
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
}

func TestAPreviewReadsNothingFromOtherServers(t *testing.T) {
	t.Parallel()
	page, c := openPage(), &catalog{}
	page.Brand.LogoUrl = new("https://169.254.169.254/latest/meta-data")
	page.Brand.Hero = []*linksv1.ClaimImage{{Url: "https://elsewhere.example/hero"}}
	page.Gifts[0].Images = []*linksv1.ClaimImage{
		{Url: "https://elsewhere.example/t320", Width: new(int32(320))}, {Url: "//elsewhere.example/t"},
	}
	require.NotContains(t, previewed(t, pageOfChoose, page, c), "<img")
	require.Empty(t, c.read)
}

func TestADocumentIsBoundedWhateverTheCampaignHas(t *testing.T) {
	t.Parallel()
	page := openPage()
	gift := page.GetGifts()[0]
	page.Gifts = nil
	for i := range 40 {
		g := proto.CloneOf(gift)
		g.ProductId, g.Name = fmt.Sprintf("gift-%d", i), strings.Repeat("ß\"<", 80)
		g.Description = strings.Repeat("'&>", 3000)
		g.Images = renditions(g.GetProductId(), 640)
		page.Gifts = append(page.Gifts, g)
	}
	c := &catalog{size: 200 << 10}
	document := previewed(t, pageOfChoose, page, c)
	require.Equal(t, 24, strings.Count(document, `<li class="card`))
	embedded := strings.Count(document, `src="data:image/jpeg`)
	require.Greater(t, embedded, 3)
	require.Less(t, embedded, 24)
	require.Equal(t, 24+1-embedded, strings.Count(document, `class="picture blank"`))
	require.Greater(t, len(document), MaxPreview-2*c.size, "the room is used")
}

func TestAPageThatShowsAGiftNeedsOne(t *testing.T) {
	t.Parallel()
	empty, gone, damaged := openPage(), openPage(), openPage()
	empty.Gifts = nil
	gone.Gifts = gone.GetGifts()[2:]
	damaged.Gifts = damaged.GetGifts()[1:2]
	damaged.Gifts[0].Choices, damaged.Gifts[0].Variations[0].Values = nil, nil
	for name, page := range map[string]*linksv1.GetClaimPageResponse{
		"none": empty, "all are gone": gone, "one without values": damaged,
	} {
		t.Run(name, func(t *testing.T) {
			for shown, known := range previews {
				_, err := setup(t).site.Preview(t.Context(), Preview{Page: shown, Link: page, Picture: (&catalog{}).picture})
				if known.gift {
					require.True(t, problem.Is(err, problem.NoProducts), "%s: %v", shown, err)
				} else {
					require.NoError(t, err, shown)
				}
			}
		})
	}
}

// An order looks as it does to its player: with an address of the country, its days and its buttons.
func TestAPreviewOfAnOrderShowsWhatAPlayerSees(t *testing.T) {
	t.Parallel()
	for locale, address := range map[string][]string{
		"sv-SE": {"Storgatan 12", "114 55 Stockholm", "+46 70 123 45 67"}, "de-DE": {"Hauptstraße 12", "26133 Oldenburg", "+49 "},
	} {
		link := openPage()
		link.Locale = locale
		for _, page := range []giftsitev1.PreviewPage{pageOfReview, giftsitev1.PreviewPage_PREVIEW_PAGE_THANKS} {
			document := html.UnescapeString(previewed(t, page, link, &catalog{size: 100}))
			for _, text := range address {
				require.Contains(t, document, text, page)
			}
		}
	}
	thanks := previewed(t, giftsitev1.PreviewPage_PREVIEW_PAGE_THANKS, openPage(), &catalog{size: 100})
	require.Contains(t, thanks, "Write Nordlys Casino a note")
	require.NotContains(t, thanks, "•••")
	sent := previewed(t, giftsitev1.PreviewPage_PREVIEW_PAGE_SENT, openPage(), &catalog{size: 100})
	require.Contains(t, sent, "Track the parcel")
	require.Equal(t, 2, strings.Count(sent, "<time "), "chosen and sent")
	for _, masked := range []string{"<bdi>A••• M•••</bdi>", "<bdi>11••• Stockholm</bdi>", "<bdi>•••67</bdi>"} {
		require.Contains(t, html.UnescapeString(sent), masked, "as the orders service masks it")
	}
	delivered := previewed(t, giftsitev1.PreviewPage_PREVIEW_PAGE_DELIVERED, openPage(), &catalog{size: 100})
	days := regexp.MustCompile(`<time datetime="([^"]+)"`).FindAllStringSubmatch(delivered, -1)
	require.Len(t, days, 3)
	require.Less(t, days[0][1], days[1][1])
	require.Less(t, days[1][1], days[2][1])
}

// Each town belongs to an example of a postal code, and a country without one has an address all the same.
func TestASampleAddressFitsItsCountry(t *testing.T) {
	t.Parallel()
	for _, country := range fields.Countries() {
		r := sampleAddress(country)
		form := addressform.For(country, "en-US")
		if _, known := towns[country]; known {
			code, _ := form.Field(addressform.PostalCode)
			require.NotEmpty(t, code.Example, country)
			region, _ := form.Field(addressform.Region)
			require.Equal(t, region.Required, r.GetRegion() != "", country)
			require.Contains(t, r.GetPhone(), form.CallingCode, country)
		}
		require.True(t, form.PostalCodeFits(r.GetPostalCode()), country)
		require.NotEmpty(t, maskedSample(r).GetStreet())
	}
}

func TestAPageThatDoesNotExistIsNotPreviewed(t *testing.T) {
	t.Parallel()
	for _, page := range []giftsitev1.PreviewPage{0, 99} {
		_, err := setup(t).site.Preview(t.Context(), Preview{Page: page, Link: openPage()})
		require.ErrorIs(t, err, errNoPreview)
	}
}

func TestStatesThatArePlayersBadLuckCanBePreviewed(t *testing.T) {
	t.Parallel()
	for page, words := range map[giftsitev1.PreviewPage]string{
		giftsitev1.PreviewPage_PREVIEW_PAGE_NONE_LEFT:    "Every gift has just been taken.",
		giftsitev1.PreviewPage_PREVIEW_PAGE_TAKEN:        "has just been taken. Please choose another gift.",
		giftsitev1.PreviewPage_PREVIEW_PAGE_REVIEW_ERROR: "Your gift could not be ordered just now.",
		giftsitev1.PreviewPage_PREVIEW_PAGE_CORRECT:      "Change what is not right.",
		giftsitev1.PreviewPage_PREVIEW_PAGE_CORRECTED:    "Your delivery details have been corrected.",
	} {
		link := openPage()
		require.Contains(t, previewed(t, page, link, &catalog{size: 100}), words, page)
		require.True(t, proto.Equal(openPage(), link), "%s changes what it is made of", page)
	}
}

func TestAPreviewOfTheListIsThePageOfTheOnlyGift(t *testing.T) {
	t.Parallel()
	link := openPage()
	link.Gifts = link.GetGifts()[1:2]
	require.Contains(t, previewed(t, pageOfChoose, link, &catalog{size: 10}), `id="picks"`)
}
