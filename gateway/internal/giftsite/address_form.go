package giftsite

import (
	"slices"

	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/phone"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// input is a text input of an address.
type input struct {
	// ID is its name in forms, and the key of its label.
	ID           string
	MaxLength    int
	Type         string
	Autocomplete string
	Optional     bool
	// Short inputs share a row if there is room.
	Short bool
}

const (
	fieldCountry = "country"
	fieldPhone   = "phone"
)

// inputs have the lengths of the API specification, section Limits. The country is chosen from a list.
var inputs = []input{
	{ID: fieldCountry, MaxLength: 2, Autocomplete: "country"},
	{ID: "name", MaxLength: 100, Type: "text", Autocomplete: "name"},
	{ID: "street", MaxLength: 255, Type: "text", Autocomplete: "street-address"},
	{ID: "postalCode", MaxLength: 20, Type: "text", Autocomplete: "postal-code", Short: true},
	{ID: "city", MaxLength: 100, Type: "text", Autocomplete: "address-level2", Short: true},
	{ID: fieldPhone, MaxLength: 50, Type: "tel", Autocomplete: "tel"},
	{ID: "email", MaxLength: 255, Type: "email", Autocomplete: "email", Optional: true},
}

// fieldOrder are the names of the inputs in display order.
var fieldOrder = func() (order []string) {
	for _, in := range inputs {
		order = append(order, in.ID)
	}
	return order
}()

func inputOf(id string) input {
	i := slices.IndexFunc(inputs, func(in input) bool { return in.ID == id })
	return inputs[i]
}

// addressForm returns the inputs of an address in a country, in the order of its form, without the country itself.
func addressForm(code string) []input {
	form := slices.Clone(inputs[1:])
	for i := range form {
		if form[i].ID == "postalCode" {
			form[i].Optional = !country.PostalCodeRequired(code)
		}
	}
	return form
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

// addressView is the page of the address. The country is first, because it decides on the other inputs. Until it is known, the page
// asks for nothing else.
type addressView struct {
	view

	// Country is the code of the country whose form is shown; empty: none is chosen yet.
	Country   string
	Countries []countryOption
	// CountryError is shown at the list of countries.
	CountryError string
	Fields       []field
	// Errors are all errors of the page, in its order.
	Errors []formError
	// GiftHref is the page of the chosen gift.
	GiftHref string
}

type countryOption struct {
	countryName

	Selected bool
}

func (s *Site) addressView(v *visit) addressView {
	gift := giftOf(v.link, v.draft.GetGift().GetProductId())
	entered := enteredIn(v.draft.GetRecipient())
	p := addressView{view: s.linkView(v.link), GiftHref: stepQuery(stepGift, fieldGift, gift.GetProductId())}
	p.Message = "" // The player has already seen it.
	p.Errors = p.fieldErrors(v.draft.GetAnswer())
	if chosen := entered[fieldCountry]; chosen != "" && !slices.Contains(gift.GetCountries(), chosen) && errorAt(p.Errors, fieldCountry) == "" {
		undeliverable := formError{Field: fieldCountry, Text: p.T("error.country.undeliverable"), Href: "#" + fieldCountry}
		p.Errors = append([]formError{undeliverable}, p.Errors...)
	}
	p.CountryError, p.Failed = errorAt(p.Errors, fieldCountry), len(p.Errors) > 0
	p.Countries, p.Country = countryOptions(p.countries, gift.GetCountries(), entered[fieldCountry], v.link.GetLocale())
	if p.Country == "" {
		return p
	}
	for _, in := range addressForm(p.Country) {
		p.Fields = append(p.Fields, p.field(in, entered[in.ID]))
	}
	return p
}

func (p addressView) field(in input, value string) field {
	out := field{input: in, texts: p.texts, Label: p.T(in.ID), Value: value, Error: errorAt(p.Errors, in.ID)}
	if in.ID == fieldPhone {
		out.Hint = p.T("phone.hint", "example", p.T("phone.example"))
		if code := phone.CallingCode(p.Country); value == "" && code != "" {
			out.Value = code + " "
		}
	}
	return out
}

// countryOptions are the countries that a gift can be sent to, in the alphabetical order of the locale, and the selected one: the
// chosen country, else the only one, else that of the link's locale. The country of en-US is not used, because en-US is the default
// of all links.
func countryOptions(names []countryName, countries []string, chosen, locale string) (options []countryOption, selected string) {
	selected = chosen
	if !slices.Contains(countries, chosen) {
		selected = likelyCountry(countries, locale)
	}
	for _, c := range names {
		if slices.Contains(countries, c.Code) {
			options = append(options, countryOption{countryName: c, Selected: c.Code == selected})
		}
	}
	return options, selected
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

// countryName returns the name of a country in the locale.
func (t *texts) countryName(code string) string {
	for _, c := range t.countries {
		if c.Code == code {
			return c.Name
		}
	}
	return code
}

// line is a labelled text, such as a part of an address.
type line struct {
	Label, Text string
}

// addressLines are the texts of an address in the order of its form, without what is empty. The country follows the city.
func (t *texts) addressLines(r *linksv1.ClaimRecipient) (lines []line) {
	entered := enteredIn(r)
	for _, in := range addressForm(r.GetCountry()) {
		if in.ID == fieldPhone && r.GetCountry() != "" {
			lines = append(lines, line{Label: t.T(fieldCountry), Text: t.countryName(r.GetCountry())})
		}
		if text := entered[in.ID]; text != "" {
			lines = append(lines, line{Label: t.T(in.ID), Text: text})
		}
	}
	return lines
}
