package giftsite

import (
	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// reviewView is the page that shows everything that will be sent. Only its form claims the gift.
type reviewView struct {
	view

	Gift card
	// Variations are the chosen values by dimension.
	Variations []line
	// Address are the lines of the address.
	Address []line
	// PostalCodeNote says that the postal code does not look like one of the country. The API does not check it, so it is only advice.
	PostalCodeNote string
	// Arrival is when the gift usually arrives; empty: the brand does not say it.
	Arrival string
	// GiftHref and AddressHref are the pages where they are changed.
	GiftHref, AddressHref string
	// Version is sent back, so that nothing else than what the page shows is claimed.
	Version int64
	// Problem is why the gift was not claimed.
	Problem string
}

func (s *Site) reviewView(v *visit) reviewView {
	gift := giftOf(v.link, v.draft.GetGift().GetProductId())
	p := reviewView{
		view: s.linkView(v.link), Gift: s.cardOf(gift), Version: v.draft.GetVersion(),
		GiftHref: stepQuery(stepGift, fieldGift, gift.GetProductId()), AddressHref: stepQuery(stepAddress),
	}
	p.begun()
	p.setTitle(p.T("review.heading"))
	p.Variations, p.Address = p.variationLines(gift, v.draft.GetGift().GetVariations()), p.addressLines(v.draft.GetRecipient())
	country := v.draft.GetRecipient().GetCountry()
	p.PostalCodeNote = p.postalCodeNote(country, v.draft.GetRecipient().GetPostalCode())
	p.Arrival = p.arrival(v.link.GetBrand().GetSite(), country)
	switch problem.Code(v.draft.GetAnswer().GetCode()) {
	case "":
		return p
	case problem.IdempotencyInProgress:
		p.Problem = p.T("problem.busy")
	case problem.VersionConflict:
		p.Problem = p.T("problem.changed")
	default:
		p.Problem = p.T("problem.again")
	}
	p.Failed = true
	return p
}

// postalCodeNote says that a postal code is unusual in the country.
func (t *texts) postalCodeNote(country, text string) string {
	form := addressform.For(country, t.Lang)
	postal, asked := form.Field(addressform.PostalCode)
	if !asked || text == "" || form.PostalCodeFits(text) {
		return ""
	}
	return t.postalCodeCheck(country, postal.Example)
}

func (t *texts) postalCodeCheck(country, example string) string {
	return t.T("postalCode.check", "country", t.countryName(country), "example", example)
}

// variationLines are the chosen values of a gift in the words of its locale, in the order of its dimensions.
func (t *texts) variationLines(gift *linksv1.ClaimGift, picked map[string]string) (lines []line) {
	for _, d := range gift.GetVariations() {
		if value, ok := picked[d.GetDimension()]; ok {
			lines = append(lines, line{Label: t.dimension(d), Text: valueName(d, value)})
		}
	}
	return lines
}
