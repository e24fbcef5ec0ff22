package giftsite

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/partnergifting/platform/pkg/fields"
)

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

// of returns the texts for a link's locale.
func (tr *translations) of(name string) *texts {
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
		return tr.of(fields.BaseLocale)
	}
	return tr.of(fields.ClosestSiteLocale(tags...))
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
