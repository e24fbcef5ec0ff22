package giftsite

import (
	"slices"

	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/country"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// formView is the page of a chosen gift with its choices and the address.
type formView struct {
	view

	Gift card
	// Nonce is the random text of the form.
	Nonce string
	// OnlyGift means that the link has no other gift.
	OnlyGift  bool
	Groups    []group
	Fields    []field
	Countries []countryOption
	// CountryError is shown at the list of countries.
	CountryError string
	// Errors are all errors of the page, in its order.
	Errors []formError
}

// field is an input on the page.
type field struct {
	input
	*texts

	Label string
	Hint  string
	Value string
	Error string
}

// DescribedBy returns the ids of the texts that describe the input to screen readers.
func (f field) DescribedBy() string {
	switch {
	case f.Error != "" && f.Hint != "":
		return f.ID + "-error " + f.ID + "-hint"
	case f.Error != "":
		return f.ID + "-error"
	case f.Hint != "":
		return f.ID + "-hint"
	}
	return ""
}

type countryOption struct {
	countryName

	Selected bool
}

func (s *Site) formView(link *linksv1.GetClaimPageResponse, gift *linksv1.ClaimGift, f form, errs []formError) formView {
	p := formView{
		view:     s.linkView(link),
		Gift:     s.cardOf(gift),
		OnlyGift: len(link.GetGifts()) == 1,
		Nonce:    f.Nonce,
		Errors:   errs,
	}
	if p.Nonce == "" {
		p.Nonce = newNonce()
	}
	p.Groups = groupsOf(p.texts, gift, f.Picked)
	for _, in := range inputs {
		p.Fields = append(p.Fields, p.field(in, gift.GetCountries(), f.Entered[in.ID]))
	}
	if !p.OnlyGift || len(errs) > 0 {
		p.Message = "" // The player has already seen it.
	}
	p.Countries = countryOptions(p.countries, gift.GetCountries(), f.Entered[fieldCountry], link.GetLocale())
	p.CountryError = errorAt(errs, fieldCountry)
	return p
}

func (p formView) field(in input, countries []string, value string) field {
	out := field{input: in, texts: p.texts, Label: p.T(in.ID), Value: value, Error: errorAt(p.Errors, in.ID)}
	switch in.ID {
	case "phone":
		out.Hint = p.T("phone.hint", "example", p.T("phone.example"))
	case "postalCode":
		out.Optional = !slices.ContainsFunc(countries, country.PostalCodeRequired)
		if !out.Optional && slices.ContainsFunc(countries, needsNoPostalCode) {
			out.Hint = p.T("postalCode.hint")
		}
	}
	return out
}

func needsNoPostalCode(code string) bool { return !country.PostalCodeRequired(code) }

// withChoiceErrors adds the errors of the choice.
func (p formView) withChoiceErrors(picked map[string]string) formView {
	var found []formError
	for i := range p.Groups {
		g := &p.Groups[i]
		switch {
		case g.isGone(picked):
			g.Error = p.T("error.choice.gone")
		case !g.isChosen():
			g.Error = p.T("error.choice.required", "group", g.Legend)
		default:
			continue
		}
		found = append(found, formError{Field: fieldChoices, Text: g.Error, Href: "#" + g.firstID()})
	}
	p.Errors = append(found, p.Errors...)
	return p
}

func errorAt(errs []formError, field string) string {
	for _, e := range errs {
		if e.Field == field {
			return e.Text
		}
	}
	return ""
}

// countryOptions are the countries that a gift can be sent to, in the alphabetical order of the locale. If none is chosen yet,
// the only country is preselected, or that of the link's locale. The country of en-US is not used, because en-US is the default
// of all links.
func countryOptions(names []countryName, countries []string, chosen, locale string) []countryOption {
	if !slices.Contains(countries, chosen) {
		chosen = ""
	}
	if chosen == "" {
		chosen = likelyCountry(countries, locale)
	}
	var out []countryOption
	for _, c := range names {
		if slices.Contains(countries, c.Code) {
			out = append(out, countryOption{countryName: c, Selected: c.Code == chosen})
		}
	}
	return out
}

func likelyCountry(countries []string, locale string) string {
	if len(countries) == 1 {
		return countries[0]
	}
	tag, err := language.Parse(locale)
	if err != nil || locale == locales[0] {
		return ""
	}
	region, confidence := tag.Region()
	if confidence != language.Exact || !slices.Contains(countries, region.String()) {
		return ""
	}
	return region.String()
}
