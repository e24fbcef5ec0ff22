package giftsite

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
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
	if _, ok := w.(compressed); ok && len(content) > 0 {
		header.Set("Content-Encoding", "gzip")
		content = staticfile.Compress(content)
	}
	w.WriteHeader(status)
	_, _ = w.Write(content)
}

// compressed is the response to a browser that accepts gzip. A page becomes so small that it arrives at once. Its size reveals
// nothing to other sites: they can choose no text of it.
type compressed struct{ http.ResponseWriter }

// policy allows the style sheet and the fonts of this site, the theme in the page, the one script, the images of the catalog, the
// icon in the page, and forms that are sent back to this site.
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
