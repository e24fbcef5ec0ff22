//go:build browser

package giftsite_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// customers are brands that look unlike each other. Each has players of another language. Its first gift is another one, too: that
// is the gift of its previews.
var customers = []struct {
	name string
	page func(*fixture) *linksv1.GetClaimPageResponse
}{
	{"casino", (*fixture).casinoPage},
	{"jeweller", (*fixture).jewellerPage},
	{"bank", (*fixture).bankPage},
	{"outdoor", (*fixture).outdoorPage},
}

// forEveryCustomer runs the test on every screen with the page of each customer. Its pictures are in a folder of the customer.
func forEveryCustomer(t *testing.T, test func(t *testing.T, f *fixture, b *browser, page *linksv1.GetClaimPageResponse)) {
	t.Helper()
	for i, customer := range customers {
		for _, screen := range screens {
			t.Run(screen.name+" "+customer.name, func(t *testing.T) {
				f, b := newFixture(t), openBrowser(t, screen)
				b.folder += "/" + customer.name
				page := customer.page(f)
				page.Gifts = slices.Concat(page.GetGifts()[i:], page.GetGifts()[:i])
				test(t, f, b, page)
			})
		}
	}
}

// casinoPage has everything that a brand can set.
func (f *fixture) casinoPage() *linksv1.GetClaimPageResponse {
	return f.withLook(f.openPage("en-US", "#1B4B8F"))
}

// jewellerPage is black and gold, with square corners. It has no hero picture, and a sender without pictures.
func (f *fixture) jewellerPage() *linksv1.GetClaimPageResponse {
	page := f.openPage("de-DE", "#14110C")
	page.Brand.Name, page.Brand.LogoUrl = "Rheingold", proto.String(f.base+images+"logo-rheingold")
	page.Brand.Site.Theme = &tenantsv1.Theme{
		AccentColour: proto.String("#B8860B"), Typeface: tenantsv1.Typeface_TYPEFACE_SERIF,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_SQUARE,
	}
	page.Brand.Site.Sender = &tenantsv1.Sender{Name: proto.String("Friederike von Hohenstein-Löwenberg")}
	page.Label, page.Greeting = "Karl-Heinz", proto.String("Ein Jubiläum wie Ihres feiert man nicht allein.")
	page.Message = proto.String("Herzlichen Glückwunsch! Wir danken Ihnen für zehn Jahre Treue und Vertrauen.")
	translate(page, [][2]string{
		{"Dunkle Trüffel, 24 Stück", "Von Hand gerollt, mit 70 % Kakao, in einer Schachtel aus Leinen."},
		{"Trinkflasche aus Edelstahl", "Hält Getränke einen Tag lang kühl und Tee einen Vormittag lang heiß."},
		{"Kapuzenpullover", "Schwere Bio-Baumwolle, innen aufgeraut."},
		{"Glasvase", "Mundgeblasen in Småland."},
		{"Duftkerze", "Birke und Meersalz, sechzig Stunden Brenndauer."},
	})
	return page
}

// bankPage is quiet: it has no logo, no pictures, no accent and no sender. Its players read Arabic.
func (f *fixture) bankPage() *linksv1.GetClaimPageResponse {
	page := f.arabicPage()
	page.Brand = f.openPage("ar", "#0A2540").GetBrand()
	page.Brand.Name, page.Brand.LogoUrl = "Hansa Privatbank", nil
	return page
}

// outdoorPage is green and orange. Its logo has no variant for dark pages, and Finnish has long words.
func (f *fixture) outdoorPage() *linksv1.GetClaimPageResponse {
	page := f.openPage("fi-FI", "#2F6B3A")
	page.Brand.Name, page.Brand.LogoUrl = "Fjord Live", proto.String(f.base+images+"logo-fjord-live")
	page.Brand.Hero = []*linksv1.ClaimImage{{Url: f.base + images + "hero-fjord-live"}}
	page.Brand.Site.Theme = &tenantsv1.Theme{
		AccentColour: proto.String("#E8590C"), Typeface: tenantsv1.Typeface_TYPEFACE_HUMANIST,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
	}
	page.Label, page.Greeting = "Aino-Kaisa", proto.String("Hyvää juhannusta!\nValitse jotain, josta on iloa retkillä.")
	page.Message = proto.String("Kiitos viidestä yhteisestä vuodesta.")
	translate(page, [][2]string{
		{"Tummat suklaatryffelit, 24 kpl", "Käsin pyöritelty, kaakaota 70 %, pellavapäällysteisessä rasiassa."},
		{"Teräksinen juomapullo", "Pitää juoman kylmänä koko päivän ja teen kuumana aamupäivän."},
		{"Hupullinen collegepaita", "Paksua luomupuuvillaa, sisäpinta harjattu."},
		{"Lasimaljakko", "Suupuhallettu Smålandissa."},
		{"Tuoksukynttilä", "Koivua ja merisuolaa, palaa kuusikymmentä tuntia."},
	})
	return page
}

// translate replaces names and descriptions of the gifts of openPage.
func translate(page *linksv1.GetClaimPageResponse, words [][2]string) {
	for i, gift := range page.GetGifts() {
		gift.Name, gift.Description = words[i][0], words[i][1]
	}
}
