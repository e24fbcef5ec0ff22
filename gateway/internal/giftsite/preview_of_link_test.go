package giftsite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// headOf returns the elements of a kind in a page, as attributes by name.
func headOf(t *testing.T, page string, kind atom.Atom) (found []map[string]string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	for n := range root.Descendants() {
		if n.DataAtom == kind {
			attributes := map[string]string{}
			for _, a := range n.Attr {
				attributes[a.Key] = a.Val
			}
			found = append(found, attributes)
		}
	}
	return found
}

// A messenger shows who sent the link and that it is a gift, and neither to whom nor what was written.
func TestAPreviewOfTheLinkNamesTheBrandOnly(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Brand.Hero = renditions("hero", 320, 1280)
	shown := func(query string) map[string]string {
		found := map[string]string{}
		for _, meta := range headOf(t, f.get(query).body, atom.Meta) {
			if meta["property"] != "" {
				found[meta["property"]] = meta["content"]
			}
		}
		return found
	}
	want := map[string]string{
		"og:type": "website", "og:site_name": "Nordlys Casino", "og:title": "A gift for you – Nordlys Casino",
		"og:description": "Open the link to choose your gift.", "og:image": public + "/catalog/images/hero-logo",
		"og:image:type": "image/jpeg", "og:image:width": "1200", "og:image:height": "630", "og:image:alt": "Nordlys Casino",
	}
	require.Equal(t, want, shown(""))
	require.Equal(t, want, shown("?step=choose"), "every page of the link is shown alike")
	f.page.Locale = "sv-SE"
	require.Equal(t, "En gåva till dig – Nordlys Casino", shown("")["og:title"])
	f.page.Brand.Hero = nil
	require.Equal(t, public+"/catalog/images/-logo", shown("")["og:image"])
	f.page.Brand.Hero, f.page.Brand.LogoUrl = renditions("hero", 320), proto.String("https://elsewhere.example/logo")
	require.Equal(t, public+"/catalog/images/hero-", shown("")["og:image"])
	f.page.Brand.Hero = nil
	require.NotContains(t, shown(""), "og:image")
	f.page.State, f.page.Gifts = linksv1.ClaimState_CLAIM_STATE_WAITING, nil
	require.Contains(t, f.get("").body, `<meta property="og:site_name" content="Nordlys Casino">`)
	require.NotContains(t, f.do("GET", "/c/"+unknown+"1", "").body, "og:")
}

// The browser requests the rendition that it will show, and no address that is made of all.
func TestThePictureThatIsSeenFirstIsRequestedAsItIsShown(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	f.page.Gifts[0].Images = renditions("t&1", 320, 640)
	page := f.get("").body
	var preload map[string]string
	for _, link := range headOf(t, page, atom.Link) {
		if link["as"] == "image" {
			preload = link
		}
	}
	for _, image := range headOf(t, page, atom.Img) {
		if image["fetchpriority"] == "high" {
			require.Equal(t, []string{image["src"], image["srcset"], image["sizes"]},
				[]string{preload["href"], preload["imagesrcset"], preload["imagesizes"]})
			require.Equal(t, public+"/catalog/images/t&1-320 320w, "+public+"/catalog/images/t&1-640 640w", image["srcset"])
			return
		}
	}
	require.Fail(t, "no picture is seen first")
}

func TestEachPageHasATitleOfItsOwn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = proto.String("Hello")
	pages := []string{f.get("").body, f.get("?step=choose").body, f.get("?step=gift&gift=shirt").body}
	pages = append(pages, f.follow(choose("truffles")).body, f.follow(filled()).body)
	pages = append(pages, f.follow(f.confirm()).body, f.get("?step=correct").body)
	titles := map[string]bool{}
	for _, page := range pages {
		_, title, _ := strings.Cut(page, "<title>")
		title, _, _ = strings.Cut(title, "</title>")
		require.Contains(t, title, "Nordlys Casino")
		titles[title] = true
	}
	require.Len(t, titles, len(pages), "%v", titles)
}
