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

// branded is a view of any page.
type branded interface {
	BrandStyle() template.CSS
}

// render answers with a page.
func (s *Site) render(w http.ResponseWriter, status int, page string, v branded) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, page, v); err != nil {
		panic(fmt.Errorf("page %s: %w", page, err)) // A buffer never fails, so the template is wrong.
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", s.policy(v))
	s.write(w, status, b.Bytes())
}

// write adds the headers of every response: it is not stored, framed, sniffed or indexed, and its address, which contains the
// token, is sent to nobody.
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

// policy allows the two style sheets in the page, the images of the catalog, the icon in the page, and forms that are sent
// back to this site.
func (s *Site) policy(v branded) string {
	return "default-src 'none'; style-src " + hashOf(styleSheet) + " " + hashOf(string(v.BrandStyle())) +
		"; img-src 'self' data: " + s.imageOrigin +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

func hashOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
