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
	// Alone: the link has no other gift.
	Alone     bool
	Groups    []group
	Fields    []field
	Countries []countryOption
	// CountryError stands at the list of countries.
	CountryError string
	// Problems are all faults of the page in its order.
	Problems []fault
}

// field is an input as it stands on the page.
type field struct {
	input

	Label string
	Hint  string
	Value string
	Error string
}

// InPage gives the field the page's words.
func (f field) InPage(p formView) fieldInPage { return fieldInPage{field: f, texts: p.texts} }

type fieldInPage struct {
	field
	*texts
}

// InPage gives the group the page's words.
func (g group) InPage(p formView) groupInPage { return groupInPage{group: g, texts: p.texts} }

type groupInPage struct {
	group
	*texts
}

// DescribedBy names what belongs to the input for who does not see it.
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

func (s *Site) formView(link *linksv1.GetClaimPageResponse, gift *linksv1.ClaimGift, f form, faults []fault) formView {
	p := formView{
		view:     s.linkView(link),
		Gift:     s.cardOf(gift),
		Alone:    len(link.GetGifts()) == 1,
		Problems: faults,
	}
	p.Groups = groupsOf(p.texts, gift, f.Picked)
	for _, in := range inputs {
		p.Fields = append(p.Fields, p.field(in, gift.GetCountries(), f.Typed[in.ID]))
	}
	if !p.Alone || len(faults) > 0 {
		p.Message = "" // It was read before.
	}
	p.Countries = countryOptions(p.countries, gift.GetCountries(), f.Typed[fieldCountry], link.GetLocale())
	p.CountryError = faultAt(faults, fieldCountry)
	return p
}

func (p formView) field(in input, countries []string, value string) field {
	out := field{input: in, Label: p.T(in.ID), Value: value, Error: faultAt(p.Problems, in.ID)}
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

// withChoiceFaults adds to the problems what is wrong with the choice.
func (p formView) withChoiceFaults(picked map[string]string) formView {
	var found []fault
	for i := range p.Groups {
		g := &p.Groups[i]
		switch {
		case g.lost(picked):
			g.Error = p.T("error.choice.gone")
		case !g.chosen():
			g.Error = p.T("error.choice.required", "group", g.Legend)
		default:
			continue
		}
		found = append(found, fault{Field: fieldChoices, Text: g.Error, Href: "#" + g.first()})
	}
	p.Problems = append(found, p.Problems...)
	return p
}

func faultAt(faults []fault, field string) string {
	for _, f := range faults {
		if f.Field == field {
			return f.Text
		}
	}
	return ""
}

// countryOptions are the countries a gift goes to, in the order of a reader's alphabet. Until one
// is chosen it is the only one there is, or that of the link's locale; of en-US, which links have
// when nobody said another, nothing follows.
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
