package giftsite

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
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
	// Lines means that the text may have several lines.
	Lines bool
	// Short inputs are not as wide as the form.
	Short bool
	// Example of a text; empty: none.
	Example string
	// Likely is a regular expression that most texts match. It is only advice. Empty: there is none.
	Likely string
	// Preset is the text of an input that the player has not filled.
	Preset string
	// Prefix is shown before the input, and is no part of its text.
	Prefix string
}

const (
	fieldName    = "name"
	fieldCountry = "country"
	fieldPhone   = "phone"
	fieldEmail   = "email"
	fieldComment = "courierComment"
)

// The inputs that do not depend on the country.
var (
	nameInput = input{
		ID: fieldName, LabelKey: fieldName, MaxLength: fields.MaxLength(&ordersv1.OrderRecipient{}, "name"),
		Type: "text", Autocomplete: "name",
	}
	phoneInput = input{
		ID: fieldPhone, LabelKey: fieldPhone, MaxLength: fields.MaxLength(&ordersv1.OrderRecipient{}, "phone"),
		Type: "tel", Autocomplete: "tel",
	}
	commentInput = input{
		ID: fieldComment, LabelKey: fieldComment, MaxLength: fields.MaxLength(&ordersv1.PlaceOrderRequest{}, "courierComment"),
		Autocomplete: "off", Optional: true, Lines: true,
	}
	emailInput = input{
		ID: fieldEmail, LabelKey: fieldEmail, MaxLength: fields.MaxLength(&ordersv1.OrderRecipient{}, "email"),
		Type: "email", Autocomplete: "email", Optional: true,
	}
)

// fieldNames are the names of all inputs.
var fieldNames = []string{
	fieldCountry, fieldName, addressform.Street, addressform.Street2, addressform.PostalCode, addressform.City, addressform.Region,
	fieldPhone, fieldEmail, fieldComment,
}

// addressForm returns the inputs of an address in a country, in the order of its form, without the country itself.
func addressForm(code, locale string) []input {
	country := addressform.For(code, locale)
	form := []input{nameInput}
	for _, f := range country.Fields {
		form = append(form, input{
			ID: f.ID, LabelKey: f.Label, MaxLength: f.MaxLength, Type: "text", Autocomplete: f.Autocomplete, Optional: !f.Required,
			Short: f.Short, Example: f.Example, Preset: f.Preset, Likely: f.Pattern,
		})
	}
	number := phoneInput
	number.Example = phone.Example(code)
	number.Prefix = country.CallingCode
	return append(form, number, emailInput, commentInput)
}

// hint says what an input of a country's form is for; empty: that is known.
func (t *texts) hint(in input, country string) string {
	switch {
	case in.ID == fieldPhone: // Where no number of the country is known, it is one of the locale.
		return t.T("phone.hint", "example", phone.WithoutCallingCode(cmp.Or(in.Example, t.T("phone.example")), country))
	case in.ID == fieldComment:
		return t.T("courierComment.hint")
	case in.Example != "":
		return t.T("hint.example", "example", in.Example)
	}
	return ""
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
	// Advice says that the text is unusual, Unusual is what the script says about such a text. Empty: nothing can be said.
	Advice, Unusual string
}

// field makes an input of the form of a country.
func (t *texts) field(in input, country, value string, errs []formError) field {
	f := field{input: in, texts: t, Label: t.label(in), Value: value, Error: errorAt(errs, in.ID)}
	if in.Likely != "" {
		f.Unusual = t.question(in, country)
	}
	if f.Error == "" {
		f.Advice = t.note(in, country, value)
	}
	if in.ID == fieldPhone {
		if f.Value = phone.WithoutCallingCode(value, country); strings.HasPrefix(f.Value, "+") {
			f.Prefix = "" // A number of another country, or one that cannot be read.
		}
	}
	return f
}

// note is a question about a text that is unusual in the country; empty: there is none. The form can be sent all the same.
func (t *texts) note(in input, country, text string) string {
	unusual := in.Likely != "" && !regexp.MustCompile("^(?i:"+in.Likely+")$").MatchString(text)
	if in.ID == fieldPhone {
		number, ok := phone.ParseIn(text, country)
		unusual = ok && !phone.IsLikely(number)
	}
	if text == "" || !unusual {
		return ""
	}
	return t.question(in, country)
}

func (t *texts) question(in input, country string) string {
	return t.T(in.ID+".check", "country", t.countryName(country), "example", in.Example)
}

// Missing and Invalid are what the page says about an empty or a wrong text: the script when the player leaves the input, and the
// server when the form is sent.
func (f field) Missing() string { return f.fieldError(f.input, problem.FieldRequired) }

// Invalid belongs to inputs with a Form.
func (f field) Invalid() string { return f.fieldError(f.input, problem.FieldInvalid) }

// Form is a regular expression that all valid texts match, also national phone numbers. The server checks more.
func (f field) Form() string {
	switch f.ID {
	case fieldPhone:
		return `^[^\p{L}\p{Nd}]*(?:[Tt][Ee][Ll]:)?(?:[^\p{L}\p{Nd}]*\p{Nd}){3,25}[^\p{L}\p{Nd}]*$`
	case fieldEmail:
		return `^[^@\s]+@[^@\s]+\.[^@\s]+$`
	case fieldInitials:
		return `^[\p{L}\p{M}\p{Nd} &.\-'’]*$`
	}
	return ""
}

// DescribedBy returns the ids of the texts that describe the input to screen readers.
func (f field) DescribedBy() string {
	return describedBy(f.ID, description{"error", f.Error}, description{"advice", f.Advice}, description{"prefix", f.Prefix},
		description{"hint", f.Hint})
}

// description is a text beside an input, in an element whose id is that of the input and the kind.
type description struct{ kind, text string }

func describedBy(id string, descriptions ...description) string {
	var ids []string
	for _, d := range descriptions {
		if d.text != "" {
			ids = append(ids, id+"-"+d.kind)
		}
	}
	return strings.Join(ids, " ")
}

// addressView is the page of the address. The country is first, because it decides on the other inputs. Until it is known, the page
// asks for nothing else.
type addressView struct {
	view

	// Country is the code of the country whose form is shown; empty: none is chosen yet.
	Country   string
	Countries []countryOption
	// CountryError and Arrival are shown at the list of countries. Arrival is when the gift usually arrives in Country; empty: the
	// brand does not say it.
	CountryError, Arrival string
	Fields                []field
	// Errors are all errors of the page, in its order.
	Errors []formError
}

// CountryDescribedBy returns the ids of the texts that describe the list of countries to screen readers.
func (p addressView) CountryDescribedBy() string {
	return describedBy(fieldCountry, description{"error", p.CountryError}, description{"hint", p.Arrival})
}

type countryOption struct {
	countryName

	Selected bool
}

func (s *Site) addressView(v *visit) addressView {
	gift := giftOf(v.link, v.draft.GetGift().GetProductId())
	entered := enteredIn(v.draft.GetRecipient())
	p := addressView{view: s.linkView(v.link)}
	p.hideSeen()
	p.setTitle(p.T("address.heading"))
	p.Countries, p.Country = countryOptions(p.allCountries(), gift.GetCountries(), entered[fieldCountry], v.link.GetLocale(),
		v.r.Header.Get("Accept-Language"))
	p.Arrival = p.arrival(v.link.GetBrand().GetSite(), p.Country)
	var form []input
	if p.Country != "" {
		form = addressForm(p.Country, p.Lang)
	}
	joined := enteredIn(asClaimed(v.draft.GetRecipient()))
	for i, in := range form { // A text leaves room for what is sent with it, such as the second line with the street.
		form[i].MaxLength -= max(0, utf8.RuneCountInString(joined[in.ID])-utf8.RuneCountInString(entered[in.ID]))
	}
	p.Errors = p.fieldErrors(v.draft.GetAnswer(), form)
	if chosen := entered[fieldCountry]; chosen != "" && !slices.Contains(gift.GetCountries(), chosen) &&
		errorAt(p.Errors, fieldCountry) == "" {
		undeliverable := formError{
			Field: fieldCountry, Label: p.T(fieldCountry), Text: p.T("error.country.undeliverable"), Href: "#" + fieldCountry,
		}
		p.Errors = append([]formError{undeliverable}, p.Errors...)
	}
	p.CountryError, p.Failed = errorAt(p.Errors, fieldCountry), len(p.Errors) > 0
	for _, in := range form {
		f := p.field(in, p.Country, cmp.Or(entered[in.ID], in.Preset), p.Errors)
		f.Hint = p.hint(in, p.Country)
		p.Fields = append(p.Fields, f)
	}
	return p
}

// countryOptions are the countries that a gift can be sent to, in the alphabetical order of the locale, and the selected one: the
// chosen country, else a likely one.
func countryOptions(
	names []countryName, countries []string, chosen, locale, accepted string,
) (options []countryOption, selected string) {
	selected = chosen
	if !slices.Contains(countries, chosen) {
		selected = likelyCountry(countries, locale, accepted)
	}
	for _, c := range names {
		if slices.Contains(countries, c.Code) {
			options = append(options, countryOption{countryName: c, Selected: c.Code == selected})
		}
	}
	return options, selected
}

// likelyCountry is the only country, else that of the link's locale, else that of the languages that the browser accepts. The
// country of en-US is not used, because en-US is the default of all links and of many browsers.
func likelyCountry(countries []string, locale, accepted string) string {
	if len(countries) == 1 {
		return countries[0]
	}
	tags, _, _ := language.ParseAcceptLanguage(accepted) // Without tags if it is malformed.
	for _, tag := range append([]language.Tag{language.Make(locale)}, tags...) {
		region, confidence := tag.Region()
		if confidence == language.Exact && tag != language.AmericanEnglish && slices.Contains(countries, region.String()) {
			return region.String()
		}
	}
	return ""
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

// envelopeLines are an address as its country writes it, with the country last.
func (t *texts) envelopeLines(r *linksv1.ClaimRecipient) []string {
	lines := addressform.For(r.GetCountry(), t.Lang).Lines(r.GetName(), enteredIn(r))
	if r.GetCountry() != "" {
		lines = append(lines, t.countryName(r.GetCountry()))
	}
	return lines
}

// contactLines are what is known of a recipient besides the address.
func (t *texts) contactLines(r *linksv1.ClaimRecipient) (lines []line) {
	entered := enteredIn(r)
	for _, in := range []input{phoneInput, emailInput, commentInput} {
		if text := entered[in.ID]; text != "" {
			lines = append(lines, line{Label: t.label(in), Text: text})
		}
	}
	return lines
}
