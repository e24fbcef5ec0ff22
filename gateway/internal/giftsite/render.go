package giftsite

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/partnergifting/platform/pkg/country"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

//go:embed pages/*.tmpl
var templateFiles embed.FS

// The templates of whole pages.
const (
	pageGreeting = "greetingpage"
	pageList     = "list"
	pageGift     = "gift"
	pageAddress  = "address"
	pageReview   = "review"
	pageOrder    = "order"
	pageCorrect  = "correct"
	pageState    = "state"
)

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{
	"style":  func() string { return stylePath },
	"script": func() string { return scriptPath },
}).ParseFS(templateFiles, "pages/*.tmpl"))

// branded is the view of any page.
type branded interface {
	ThemeStyle() template.CSS
}

// render writes a page.
func (s *Site) render(w http.ResponseWriter, status int, page string, v branded) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, page, v); err != nil {
		panic(fmt.Errorf("page %s: %w", page, err)) // Writing to a buffer does not fail, so the template is wrong.
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.policy(v))
	s.write(w, status, b.Bytes())
}

// write adds the headers of every response: it is not stored, framed, sniffed or indexed, and browsers do not send its address,
// which contains the token, to other sites.
func (s *Site) write(w http.ResponseWriter, status int, content []byte) {
	header := w.Header()
	if header.Get("Content-Security-Policy") == "" {
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	}
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("X-Robots-Tag", "noindex, nofollow")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(content)
}

// policy allows the style sheet and the fonts of this site, the theme in the page, the one script, the images of the catalog, the icon
// in the page, and forms that are sent back to this site.
func (s *Site) policy(v branded) string {
	return "default-src 'none'; style-src 'self' " + hashOf(string(v.ThemeStyle())) +
		"; font-src 'self'; script-src " + s.imageOrigin + scriptPath +
		"; img-src 'self' data: " + s.imageOrigin +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

func hashOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

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

// T returns the text of a key. Its placeholders are replaced with the given pairs of name and value.
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
			continue // A test ensures that this never happens.
		}
		out = append(out, countryName{Code: code, Name: names.Name(region)})
	}
	order := collate.New(tag)
	slices.SortFunc(out, func(a, b countryName) int { return order.CompareString(a.Name, b.Name) })
	return out
}
