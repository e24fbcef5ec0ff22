package giftsite

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/collate"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/bidi"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// message is a text, or one for each plural form of the language.
type message struct {
	text   string
	plural map[plural.Form]string
}

// forms are the names of the plural forms of CLDR.
var forms = map[string]plural.Form{
	"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few, "many": plural.Many, "other": plural.Other,
}

// UnmarshalJSON reads a string or an object with plural forms.
func (m *message) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &m.text) == nil {
		return nil
	}
	var byName map[string]string
	if err := json.Unmarshal(raw, &byName); err != nil {
		return fmt.Errorf("neither a text nor plural forms: %w", err)
	}
	m.plural = map[plural.Form]string{}
	for name, text := range byName {
		form, ok := forms[name]
		if !ok {
			return fmt.Errorf("%q is no plural form", name)
		}
		m.plural[form] = text
	}
	return nil
}

// dictionary has the texts of one file.
type dictionary struct {
	locale string
	tag    language.Tag
	words  map[string]message
	// countries are all countries, sorted for the locale. They are computed when they are first shown.
	countries func() []countryName
}

type countryName struct {
	Code, Name string
}

// texts are the texts of the pages for one locale. A text that its own dictionary does not have is that of the next one.
type texts struct {
	Lang         string
	dictionaries []*dictionary
}

// T returns the text of a key. Its placeholders are replaced with the given pairs of name and value.
func (t *texts) T(key string, pairs ...string) string {
	m, d := t.find(key)
	return d.fill(m.text, pairs)
}

// N is T for a text that depends on a number. It also replaces the placeholder {n}.
func (t *texts) N(key string, n int, pairs ...string) string {
	m, d := t.find(key)
	form := plural.Cardinal.MatchPlural(d.tag, n, 0, 0, 0, 0)
	text, ok := m.plural[form]
	if !ok {
		text = m.plural[plural.Other]
	}
	return d.fill(text, append(slices.Clone(pairs), "n", strconv.Itoa(n)))
}

// fill replaces placeholders. A value that may be written in the other direction is isolated, so that it does not change the order
// of the text around it.
func (d *dictionary) fill(text string, pairs []string) string {
	pairs = slices.Clone(pairs)
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
		if d.isRightToLeft() || strings.ContainsFunc(pairs[i+1], isRightToLeft) {
			pairs[i+1] = "\u2068" + pairs[i+1] + "\u2069"
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func isRightToLeft(r rune) bool {
	properties, _ := bidi.LookupString(string(r))
	return properties.Class() == bidi.R || properties.Class() == bidi.AL
}

// rightToLeft are the scripts that are written from right to left.
var rightToLeft = []string{"Arab", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm", "Rohg"}

func (d *dictionary) isRightToLeft() bool {
	script, _ := d.tag.Script()
	return slices.Contains(rightToLeft, script.String())
}

func (t *texts) find(key string) (message, *dictionary) {
	for _, d := range t.dictionaries {
		if m, ok := d.words[key]; ok {
			return m, d
		}
	}
	panic("no text: " + key) // A test looks up every key that the pages use.
}

// Has reports whether the key has a text.
func (t *texts) Has(key string) bool {
	return slices.ContainsFunc(t.dictionaries, func(d *dictionary) bool { _, ok := d.words[key]; return ok })
}

// Dir is the direction of the page's language, for the attribute of HTML.
func (t *texts) Dir() string {
	if t.dictionaries[0].isRightToLeft() {
		return "rtl"
	}
	return "ltr"
}

// allCountries are all countries in the alphabetical order of the language.
func (t *texts) allCountries() []countryName { return t.dictionaries[0].countries() }

// dimension is how the page shows a dimension of a gift. Common English ones are translated even if the catalog does not.
func (t *texts) dimension(d *linksv1.ClaimVariation) string {
	if name := d.GetName(); name != "" && name != d.GetDimension() {
		return name
	}
	if key := "dimension." + d.GetDimension(); t.Has(key) {
		return t.T(key)
	}
	return d.GetDimension()
}

// The texts of the pages, one file for each locale. A language has one file with all texts. The file of another region has only
// what is different there, such as de-CH beside de-DE.
//
//go:embed texts/*.json
var textFiles embed.FS

// translations are the texts of all locales.
type translations struct {
	byLocale map[string]*dictionary
}

func readTranslations() (*translations, error) {
	tr := &translations{byLocale: map[string]*dictionary{}}
	for _, name := range fields.SiteLocales {
		d, err := readDictionary(name)
		if err != nil {
			return nil, fmt.Errorf("texts of %s: %w", name, err)
		}
		tr.byLocale[name] = d
	}
	return tr, nil
}

func readDictionary(name string) (*dictionary, error) {
	raw, err := textFiles.ReadFile("texts/" + name + ".json")
	if err != nil {
		return nil, err
	}
	d := &dictionary{locale: name}
	if err := json.Unmarshal(raw, &d.words); err != nil {
		return nil, err
	}
	if d.tag, err = language.Parse(d.locale); err != nil {
		return nil, err
	}
	d.countries = sync.OnceValue(func() []countryName { return countryNames(d.tag) })
	return d, nil
}

// textsFor returns the texts for a link's locale.
func (tr *translations) textsFor(name string) *texts {
	t := &texts{}
	for _, shown := range fields.SitePageLocales(name) {
		t.dictionaries = append(t.dictionaries, tr.byLocale[shown])
	}
	t.Lang = t.dictionaries[0].locale
	return t
}

// accepted returns the texts closest to the Accept-Language header of a browser.
func (tr *translations) accepted(header string) *texts {
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return tr.textsFor(fields.BaseLocale)
	}
	return tr.textsFor(fields.ClosestSiteLocale(tags...))
}

func countryNames(tag language.Tag) []countryName {
	names := display.Regions(tag)
	var out []countryName
	for _, code := range fields.Countries() {
		region, err := language.ParseRegion(code)
		if err != nil {
			continue // A test ensures that this never happens.
		}
		out = append(out, countryName{Code: code, Name: names.Name(region)})
	}
	order := collate.New(tag)
	slices.SortFunc(out, func(a, b countryName) int { return order.CompareString(a.Name, b.Name) })
	return out
}

// day is a day on the page.
type day struct {
	// Date is for machines, Text in the words of the page. The text has no year: pages show days of the last weeks.
	Date, Text string
}

// day returns the day of a time in UTC, nil for no time. The site does not know the time zone of its player: an address has only a
// country, and some countries have several. So around midnight the day may be the one before or after that of the player.
func (t *texts) day(at *timestamppb.Timestamp) *day {
	if at == nil {
		return nil
	}
	date := at.AsTime()
	form, month := "date", "month."+strconv.Itoa(int(date.Month()))
	if date.Day() == 1 {
		form = "date.first"
	}
	return &day{Date: date.Format(time.DateOnly), Text: t.T(form, "day", strconv.Itoa(date.Day()), "month", t.T(month))}
}

// arrival says when a gift usually arrives in the country of the address; empty: the brand does not say it.
func (t *texts) arrival(site *tenantsv1.GiftSite, country string) string {
	for _, d := range site.GetDeliveryTimes() {
		least, most := int(d.GetMinBusinessDays()), int(d.GetMaxBusinessDays())
		switch {
		case d.GetCountry() != country:
		case least == most:
			return t.N("arrival.exact", most)
		default:
			return t.N("arrival.range", most, "min", strconv.Itoa(least))
		}
	}
	return ""
}
