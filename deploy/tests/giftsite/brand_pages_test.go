//go:build browser

package giftsite_test

import (
	"cmp"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// customers are brands that look unlike each other. Each has players of another language. Its first gift is another one, too: that
// is the gift of its previews.
var customers = []struct {
	name   string
	player string
	page   func(*fixture) *linksv1.GetClaimPageResponse
}{
	{"casino", "Astrid Lindqvist", (*fixture).casinoPage},
	{"jeweller", "Karl-Heinz Brandt", (*fixture).jewellerPage},
	{"bank", "ليلى حداد", (*fixture).bankPage},
	{"outdoor", "Aino-Kaisa Virtanen", (*fixture).outdoorPage},
}

// forEveryCustomer runs the test on every screen with the page of each customer. Its pictures are in a folder of the customer.
func forEveryCustomer(t *testing.T, test func(t *testing.T, f *fixture, b *browser, page *linksv1.GetClaimPageResponse)) {
	t.Helper()
	for i, customer := range customers {
		for _, screen := range screens {
			t.Run(screen.name+" "+customer.name, func(t *testing.T) {
				f, b := newFixture(t), openBrowser(t, screen)
				b.player, b.folder = customer.player, b.folder+"/"+customer.name
				page := customer.page(f)
				page.Gifts = slices.Concat(page.GetGifts()[i:], page.GetGifts()[:i])
				test(t, f, b, page)
			})
		}
	}
}

// casinoPage has everything that a brand can set.
func (f *fixture) casinoPage() *linksv1.GetClaimPageResponse {
	page := f.withLook(f.openPage("en-US", "#1B4B8F"))
	page.Brand.Site.Theme.Typeface = tenantsv1.Typeface_TYPEFACE_GROTESK
	return page
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
	}, map[string]string{
		"0.5 l": "0,5 l", "0.75 l": "0,75 l", "Steel": "Stahl", "White": "Weiß", "Black": "Schwarz", "Navy": "Marineblau", "Grey": "Grau",
	}, [3]string{"Edelstahl", "7 cm breit", "Aus einem einzigen Stück Stahl gezogen.\n\nOhne Naht, also kann nichts auslaufen."})
	return page
}

// bankPage is quiet: it has no logo, no pictures, no accent and no sender. Its players read Arabic.
func (f *fixture) bankPage() *linksv1.GetClaimPageResponse {
	page := f.arabicPage()
	page.Brand = f.openPage("ar", "#0A2540").GetBrand()
	page.Brand.Name, page.Brand.LogoUrl = "Hansa Privatbank", nil
	page.Message = proto.String("شكرًا لثقتك بنا على مدى خمس سنوات.")
	return page
}

// outdoorPage has the blue of its logo, and orange. The logo has no variant for dark pages, and Finnish has long words.
func (f *fixture) outdoorPage() *linksv1.GetClaimPageResponse {
	page := f.openPage("fi-FI", "#1F6F8B")
	page.Brand.Name, page.Brand.LogoUrl = "Fjord Live", proto.String(f.base+images+"logo-fjord-live")
	page.Brand.Hero = []*linksv1.ClaimImage{{Url: f.base + images + "hero-fjord-live"}}
	page.Brand.Site.Theme = &tenantsv1.Theme{
		AccentColour: proto.String("#E8590C"), Typeface: tenantsv1.Typeface_TYPEFACE_HUMANIST,
		Corners: tenantsv1.CornerStyle_CORNER_STYLE_ROUND,
	}
	page.Label, page.Greeting = "Aino-Kaisa", proto.String("Juhlan aika!\nValitse jotain, josta on iloa retkillä.")
	page.Message = proto.String("Kiitos viidestä yhteisestä vuodesta.")
	translate(page, [][2]string{
		{"Tummat suklaatryffelit, 24 kpl", "Käsin pyöritelty, kaakaota 70 %, pellavapäällysteisessä rasiassa."},
		{"Teräksinen juomapullo", "Pitää juoman kylmänä koko päivän ja teen kuumana aamupäivän."},
		{"Hupullinen collegepaita", "Paksua luomupuuvillaa, sisäpinta harjattu."},
		{"Lasimaljakko", "Suupuhallettu Smålandissa."},
		{"Tuoksukynttilä", "Koivua ja merisuolaa, palaa kuusikymmentä tuntia."},
	}, map[string]string{
		"0.5 l": "0,5 l", "0.75 l": "0,75 l", "Steel": "Teräs", "White": "Valkoinen", "Black": "Musta", "Navy": "Laivastonsininen",
		"Grey": "Harmaa",
	}, [3]string{
		"Ruostumaton teräs", "Leveys 7 cm", "Vedetty yhdestä teräskappaleesta.\n\nSiinä ei ole saumaa, joten mikään ei vuoda.",
	})
	return page
}

// translate replaces names and descriptions of the gifts of openPage, their values, and the material, size and story of the bottle.
func translate(page *linksv1.GetClaimPageResponse, words [][2]string, values map[string]string, details [3]string) {
	for i, gift := range page.GetGifts() {
		gift.Name, gift.Description = words[i][0], words[i][1]
		for _, dimension := range gift.GetVariations() {
			for _, value := range dimension.GetValues() {
				dimension.ValueNames = append(dimension.ValueNames, cmp.Or(values[value], value))
			}
		}
		if gift.GetDetails() != nil {
			gift.Details.Material, gift.Details.Size, gift.Details.Story = details[0], details[1], details[2]
		}
	}
}

// kindWords are what the player writes to the brand, by locale.
var kindWords = map[string]string{
	"en-US": "So kind of you!", "de-DE": "Wie aufmerksam von Ihnen!", "fi-FI": "Kiitos, mikä ihana yllätys!", "ar": "شكرًا على لطفكم!",
}
