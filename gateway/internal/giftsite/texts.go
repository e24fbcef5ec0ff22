package giftsite

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/partnergifting/platform/pkg/country"
)

//go:embed texts/*.json
var textFiles embed.FS

// locales are those the pages are translated to; the first is for everybody else.
var locales = []string{"en-US", "sv-SE", "de-DE"}

// texts are the pages' own words in one locale.
type texts struct {
	Lang  string
	words map[string]string
	// countries are all there are, as a reader of the locale would sort them.
	countries []countryName
}

type countryName struct {
	Code, Name string
}

// T gives the text of a key; pairs of name and value fill its places.
func (t *texts) T(key string, pairs ...string) string {
	text, ok := t.words[key]
	if !ok {
		panic("no text: " + key) // The tests look up every key the pages use.
	}
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Has says whether there is a text of the key.
func (t *texts) Has(key string) bool {
	_, ok := t.words[key]
	return ok
}

// dimension translates the name of a dimension of a gift, of which the catalog has one spelling
// only. A name that is not known stands as it is; values always do.
func (t *texts) dimension(name string) string {
	if key := "dimension." + name; t.Has(key) {
		return t.T(key)
	}
	return name
}

// translations finds the texts for a reader.
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

// of gives the texts nearest to a link's locale.
func (tr *translations) of(locale string) *texts {
	tag, err := language.Parse(locale)
	if err != nil {
		return tr.all[0]
	}
	_, i, _ := tr.matcher.Match(tag)
	return tr.all[i]
}

// accepted gives the texts nearest to what a browser asks for. A header that is no list of
// languages asks for nothing.
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
	var out byName
	for _, code := range country.All() {
		region, err := language.ParseRegion(code)
		if err != nil {
			continue // Every assigned code is a region; a test counts them.
		}
		out = append(out, countryName{Code: code, Name: names.Name(region)})
	}
	collate.New(tag).Sort(out)
	return out
}

type byName []countryName

func (b byName) Len() int           { return len(b) }
func (b byName) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b byName) Bytes(i int) []byte { return []byte(b[i].Name) }
