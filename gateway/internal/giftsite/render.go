package giftsite

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed pages/*.tmpl
var templateFiles embed.FS

//go:embed pages/style.css
var styleSheet string

// The templates of whole pages.
const (
	pageList  = "list"
	pageForm  = "form"
	pageState = "state"
)

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(styleSheet) }, //nolint:gosec // Part of this program.
}).ParseFS(templateFiles, "pages/*.tmpl"))

// worn is what a view of every kind has.
type worn interface {
	BrandStyle() template.CSS
}

// render answers with a page.
func (s *Site) render(w http.ResponseWriter, status int, page string, v worn) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, page, v); err != nil {
		panic(fmt.Errorf("page %s: %w", page, err)) // Into a buffer only a fault of the template gets here.
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.policy(v))
	s.answer(w, status, b.Bytes())
}

// answer writes what every answer has: nothing is kept, framed, guessed at or found by a search
// engine, and no address with a token in it is told to anybody.
func (s *Site) answer(w http.ResponseWriter, status int, content []byte) {
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

// policy allows the two style sheets that stand in the page, the pictures of the catalog and the
// page's own icon, and forms that are sent back here.
func (s *Site) policy(v worn) string {
	return "default-src 'none'; style-src " + hashOf(styleSheet) + " " + hashOf(string(v.BrandStyle())) +
		"; img-src 'self' data: " + s.pictures +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

func hashOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
