package giftsite

import (
	"html/template"
	"net/url"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// view is what every page has.
type view struct {
	*texts

	Title string
	// Trouble: something is to be put right, which the title says too.
	Trouble bool
	// ContentLang is the language of the link's own texts, where it is not the page's.
	ContentLang string
	Brand       string
	Logo        string
	Palette     palette
	Label       string
	Message     string
	// RequestID helps whoever is asked about a page that failed.
	RequestID string
}

// newView makes the view of a page that wears no brand.
func newView(t *texts) view {
	return view{texts: t, Title: t.T("title"), Palette: paletteOf("")}
}

func (s *Site) linkView(link *linksv1.GetClaimPageResponse) view {
	v := newView(s.translations.of(link.GetLocale()))
	v.Brand = link.GetBrand().GetName()
	v.Logo = s.logo(link.GetBrand().GetLogoUrl())
	v.Palette = paletteOf(link.GetBrand().GetPrimaryColour())
	v.Label, v.Message = link.GetLabel(), link.GetMessage()
	if link.GetLocale() != v.Lang {
		v.ContentLang = link.GetLocale()
	}
	if v.Brand != "" {
		v.Title += " – " + v.Brand
	}
	return v
}

// logo is a brand's logo if it was uploaded to the catalog. The page asks no other server for
// anything: it would learn who opens which link.
func (s *Site) logo(address string) string {
	if originOf(address) != s.pictures {
		return ""
	}
	return address
}

// originOf is the source of the address as a Content-Security-Policy names it.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// BrandStyle gives the style sheet the brand's colours.
func (v view) BrandStyle() template.CSS {
	p := v.Palette
	return template.CSS(":root{--fill:" + p.Fill.String() + ";--on-fill:" + p.OnFill.String() + //nolint:gosec // Four colours.
		";--ink:" + p.Ink.String() + ";--tint:" + p.Tint.String() + "}")
}

// Icon is the page's icon in the brand's colour. It also keeps a browser from asking for one.
func (v view) Icon() template.URL {
	p := v.Palette
	svg := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="` + p.Fill.String() +
		`"/><path d="M7 13h18v4H7zm2 5h14v8H9zm7-5v13m0-13c-2-6-8-6-7-2 .5 2 4 2 7 2 3 0 6.5 0 7-2 1-4-5-4-7 2" fill="none" stroke="` +
		p.OnFill.String() + `" stroke-width="2" stroke-linejoin="round"/></svg>`
	return template.URL("data:image/svg+xml," + url.PathEscape(svg)) //nolint:gosec // Two colours in a text of ours.
}

// card is a gift in the list.
type card struct {
	ID          string
	Name        string
	Description string
	Picture     picture
	Gone        bool
}

// listView is the page that lists the gifts.
type listView struct {
	view

	Cards []card
	// Problem is why the player is back here.
	Problem string
	// Kept is what was typed already; empty: nothing, and choosing is a plain link.
	Kept []kept
	// AllGone: nothing can be chosen.
	AllGone bool
}

type kept struct {
	Name, Value string
}

func (s *Site) listView(link *linksv1.GetClaimPageResponse, f form) listView {
	p := listView{view: s.linkView(link), AllGone: true}
	for _, g := range link.GetGifts() {
		p.Cards = append(p.Cards, s.cardOf(g))
		p.AllGone = p.AllGone && g.GetOutOfStock()
	}
	for _, field := range fieldOrder {
		if value := f.Typed[field]; value != "" {
			p.Kept = append(p.Kept, kept{Name: field, Value: value})
		}
	}
	return p
}

func (s *Site) cardOf(g *linksv1.ClaimGift) card {
	return card{
		ID: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(),
		Picture: s.pictureOf(g.GetImages()), Gone: g.GetOutOfStock(),
	}
}

// stateView is a page that only tells something.
type stateView struct {
	view

	// State begins the keys of its texts and names its picture.
	State     string
	Reference string
	Retry     bool
}
