package giftsite

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/locale"
)

// The texts of the pages, one file for each locale. A language has one file with all texts. The file of another region has only
// what is different there, such as de-CH beside de-DE.
//
//go:embed texts/*.json
var textFiles embed.FS

// translations are the texts of all locales.
type translations struct {
	byLocale map[string]*dictionary
	base     *dictionary
	// matcher finds the best of matched for a locale whose language has no file, such as Danish for Faroese.
	matcher language.Matcher
	matched []*dictionary
}

func readTranslations() (*translations, error) {
	files, err := textFiles.ReadDir("texts")
	if err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	tr := &translations{byLocale: map[string]*dictionary{}}
	for _, file := range files {
		d, err := readDictionary(file.Name())
		if err != nil {
			return nil, fmt.Errorf("texts of %s: %w", file.Name(), err)
		}
		tr.byLocale[d.locale] = d
		tr.matched = append(tr.matched, d)
	}
	tr.base = tr.byLocale[locale.Base]
	tr.matched = slices.DeleteFunc(tr.matched, func(d *dictionary) bool { return d == tr.base })
	tr.matched = append([]*dictionary{tr.base}, tr.matched...) // The first is what matches nothing else.
	tags := make([]language.Tag, len(tr.matched))
	for i, d := range tr.matched {
		tags[i] = d.tag
	}
	tr.matcher = language.NewMatcher(tags)
	return tr, nil
}

func readDictionary(name string) (*dictionary, error) {
	raw, err := textFiles.ReadFile("texts/" + name)
	if err != nil {
		return nil, err
	}
	d := &dictionary{locale: strings.TrimSuffix(name, path.Ext(name))}
	if err := json.Unmarshal(raw, &d.words); err != nil {
		return nil, err
	}
	if d.tag, err = language.Parse(d.locale); err != nil {
		return nil, err
	}
	d.countries = sync.OnceValue(func() []countryName { return countryNames(d.tag) })
	return d, nil
}

// of returns the texts for a link's locale: its own, then those of its language, then the closest other language, at last English.
func (tr *translations) of(name string) *texts {
	t := &texts{}
	for _, fallback := range locale.Fallbacks(name) {
		if d, ok := tr.byLocale[fallback]; ok && d != tr.base {
			t.dictionaries = append(t.dictionaries, d)
		}
	}
	tag, err := language.Parse(name)
	if base, _ := tag.Base(); err == nil && len(t.dictionaries) == 0 && base.String() != "en" {
		_, i, _ := tr.matcher.Match(tag)
		if tr.matched[i] != tr.base {
			t.dictionaries = append(t.dictionaries, tr.matched[i])
		}
	}
	t.dictionaries = append(t.dictionaries, tr.base)
	t.Lang = t.dictionaries[0].locale
	return t
}

// accepted returns the texts closest to the Accept-Language header of a browser.
func (tr *translations) accepted(header string) *texts {
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return tr.of(locale.Base)
	}
	_, i, _ := tr.matcher.Match(tags...)
	return tr.of(tr.matched[i].locale)
}

func countryNames(tag language.Tag) []countryName {
	names := display.Regions(tag)
	var out []countryName
	for _, code := range country.All() {
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
