package giftsite

import (
	"cmp"
	"slices"

	"golang.org/x/text/language"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/locale"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// input is a text input of an address.
type input struct {
	// ID is its name in forms.
	ID string
	// LabelKey is the key of its label; if there is no such text, the ID is.
	LabelKey     string
	MaxLength    int
	Type         string
	Autocomplete string
	Optional     bool
	// Short inputs share a row if there is room.
	Short bool
	// Example of a text; empty: none.
	Example string
	// Preset is the text of an input that the player has not filled.
	Preset string
}

const (
	fieldName    = "name"
	fieldCountry = "country"
	fieldPhone   = "phone"
	fieldEmail   = "email"
)

// The inputs that do not depend on the country, with the lengths of the API specification, section Limits.
var (
	nameInput  = input{ID: fieldName, LabelKey: fieldName, MaxLength: 100, Type: "text", Autocomplete: "name"}
	phoneInput = input{ID: fieldPhone, LabelKey: fieldPhone, MaxLength: 50, Type: "tel", Autocomplete: "tel"}
	emailInput = input{ID: fieldEmail, LabelKey: fieldEmail, MaxLength: 255, Type: "email", Autocomplete: "email", Optional: true}
)

// fieldNames are the names of all inputs.
var fieldNames = []string{
	fieldCountry, fieldName, addressform.Street, addressform.PostalCode, addressform.City, addressform.Region, fieldPhone, fieldEmail,
}

// addressForm returns the inputs of an address in a country, in the order of its form, without the country itself.
func addressForm(code, locale string) []input {
	country := addressform.For(code, locale)
	form := []input{nameInput}
	for _, f := range country.Fields {
		form = append(form, input{
			ID: f.ID, LabelKey: f.Label, MaxLength: f.MaxLength, Type: "text", Autocomplete: f.Autocomplete, Optional: !f.Required,
			Short: f.Short, Example: f.Example, Preset: f.Preset,
		})
	}
	number := phoneInput
	if country.CallingCode != "" {
		number.Preset = country.CallingCode + " "
	}
	return append(form, number, emailInput)
}

// label is the label of an input.
func (t *texts) label(in input) string {
	if t.Has(in.LabelKey) {
		return t.T(in.LabelKey)
	}
	return t.T(in.ID)
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

// Missing and Invalid are what the page says about an empty or a wrong text. The script says it when the input is left, and the server
// when the form is sent.
func (f field) Missing() string { return f.fieldError(f.input, problem.FieldRequired) }

// Invalid belongs to inputs with a Form.
func (f field) Invalid() string { return f.fieldError(f.input, problem.FieldInvalid) }

// Form is a regular expression that valid texts match. The server checks more.
func (f field) Form() string {
	switch f.ID {
	case fieldPhone:
		return `^\+[0-9][0-9 ().\/-]{5,}$`
	case "email":
		return `^[^@\s]+@[^@\s]+\.[^@\s]+$`
	}
	return ""
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
	p.begun()
	p.Countries, p.Country = countryOptions(p.allCountries(), gift.GetCountries(), entered[fieldCountry], v.link.GetLocale())
	var form []input
	if p.Country != "" {
		form = addressForm(p.Country, p.Lang)
	}
	p.Errors = p.fieldErrors(v.draft.GetAnswer(), form)
	if chosen := entered[fieldCountry]; chosen != "" && !slices.Contains(gift.GetCountries(), chosen) && errorAt(p.Errors, fieldCountry) == "" {
		undeliverable := formError{Field: fieldCountry, Text: p.T("error.country.undeliverable"), Href: "#" + fieldCountry}
		p.Errors = append([]formError{undeliverable}, p.Errors...)
	}
	p.CountryError, p.Failed = errorAt(p.Errors, fieldCountry), len(p.Errors) > 0
	for _, in := range form {
		p.Fields = append(p.Fields, p.field(in, entered[in.ID]))
	}
	return p
}

func (p addressView) field(in input, value string) field {
	out := field{input: in, texts: p.texts, Label: p.label(in), Value: cmp.Or(value, in.Preset), Error: errorAt(p.Errors, in.ID)}
	switch {
	case in.ID == fieldPhone:
		out.Hint = p.T("phone.hint", "example", p.T("phone.example"))
	case in.Example != "":
		out.Hint = p.T("hint.example", "example", in.Example)
	}
	return out
}

// countryOptions are the countries that a gift can be sent to, in the alphabetical order of the locale, and the selected one: the
// chosen country, else the only one, else that of the link's locale. The country of en-US is not used, because en-US is the default
// of all links.
func countryOptions(names []countryName, countries []string, chosen, name string) (options []countryOption, selected string) {
	selected = chosen
	if !slices.Contains(countries, chosen) {
		selected = likelyCountry(countries, name)
	}
	for _, c := range names {
		if slices.Contains(countries, c.Code) {
			options = append(options, countryOption{countryName: c, Selected: c.Code == selected})
		}
	}
	return options, selected
}

func likelyCountry(countries []string, name string) string {
	if len(countries) == 1 {
		return countries[0]
	}
	tag, err := language.Parse(name)
	if err != nil || name == locale.Base {
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
	for _, c := range t.allCountries() {
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

// addressLines are the texts of an address in the order of its form, without what is empty. The country follows them, then phone and
// e-mail.
func (t *texts) addressLines(r *linksv1.ClaimRecipient) (lines []line) {
	entered := enteredIn(r)
	for _, in := range addressForm(r.GetCountry(), t.Lang) {
		if in.ID == fieldPhone && r.GetCountry() != "" {
			lines = append(lines, line{Label: t.T(fieldCountry), Text: t.countryName(r.GetCountry())})
		}
		if text := entered[in.ID]; text != "" {
			lines = append(lines, line{Label: t.label(in), Text: text})
		}
	}
	return lines
}
