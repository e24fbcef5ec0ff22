package giftsite

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/partnergifting/platform/pkg/country"
)

//go:embed texts/*.json
var textFiles embed.FS

// locales are those that the pages are translated to. The first is the fallback.
var locales = []string{"en-US", "sv-SE", "de-DE"}

// texts are the texts of the pages in one locale.
type texts struct {
	Lang  string
	words map[string]string
	// countries are all countries, sorted for the locale.
	countries []countryName
}

type countryName struct {
	Code, Name string
}

// T returns the text of a key. Its placeholders are replaced by pairs of name and value.
func (t *texts) T(key string, pairs ...string) string {
	text, ok := t.words[key]
	if !ok {
		panic("no text: " + key) // A test looks up every key that the pages use.
	}
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Has reports whether the key has a text.
func (t *texts) Has(key string) bool {
	_, ok := t.words[key]
	return ok
}

// dimension translates the name of a dimension of a gift, which the catalog has in English. Unknown names are not translated,
// and values never are.
func (t *texts) dimension(name string) string {
	if key := "dimension." + name; t.Has(key) {
		return t.T(key)
	}
	return name
}

// translations are the texts of all locales.
type translations struct {
	all     []*texts
	matcher language.Matcher
}

func readTranslations() (*translations, error) {
	tr := &translations{}
	tags := make([]language.Tag, 0, len(locales))
	for _, locale := range locales {
		raw, err := textFiles.ReadFile("texts/" + locale + ".json")
		if err != nil {
			return nil, fmt.Errorf("texts: %w", err)
		}
		t := &texts{Lang: locale}
		if err := json.Unmarshal(raw, &t.words); err != nil {
			return nil, fmt.Errorf("texts of %s: %w", locale, err)
		}
		tag, err := language.Parse(locale)
		if err != nil {
			return nil, fmt.Errorf("texts of %s: %w", locale, err)
		}
		t.countries = countryNames(tag)
		tr.all, tags = append(tr.all, t), append(tags, tag)
	}
	tr.matcher = language.NewMatcher(tags)
	return tr, nil
}

// of returns the texts closest to a link's locale.
func (tr *translations) of(locale string) *texts {
	tag, err := language.Parse(locale)
	if err != nil {
		return tr.all[0]
	}
	_, i, _ := tr.matcher.Match(tag)
	return tr.all[i]
}

// accepted returns the texts closest to the Accept-Language header of a browser.
func (tr *translations) accepted(header string) *texts {
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return tr.all[0]
	}
	_, i, _ := tr.matcher.Match(tags...)
	return tr.all[i]
}

func countryNames(tag language.Tag) []countryName {
	names := display.Regions(tag)
	var out []countryName
	for _, code := range country.All() {
		region, err := language.ParseRegion(code)
		if err != nil {
			continue // A test makes sure that this never happens.
		}
		out = append(out, countryName{Code: code, Name: names.Name(region)})
	}
	order := collate.New(tag)
	slices.SortFunc(out, func(a, b countryName) int { return order.CompareString(a.Name, b.Name) })
	return out
}
