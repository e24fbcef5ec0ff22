package giftsite

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"regexp"
	"strings"

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
	// Browsers balance a text only if it has no line break.
	"lines": func(text string) []string { return strings.Split(text, "\n") },
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

// policy allows the style sheet, the fonts and the script of this site, the theme in the page, the images of the catalog, the icon
// in the page, and forms that are sent back to this site, also by the script. The images are on the host of the API. Links may have
// another host, so everything else is allowed by 'self'.
func (s *Site) policy(v branded) string {
	return "default-src 'none'; style-src 'self' " + hashOf(string(v.ThemeStyle())) +
		"; font-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data: " + s.imageOrigin +
		"; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

func hashOf(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

//go:embed pages/style.css
var styleSheet []byte

//go:embed pages/site.js
var scriptSource []byte

// script is the source without comments and indentation.
var script = regexp.MustCompile(`(?m)^[ \t]*(//.*\n)?`).ReplaceAll(scriptSource, nil)

// The fonts of a brand's headings and buttons, with their licences. Running text has a font of the device.
//
//go:embed fonts/*.woff2
var fontFiles embed.FS

// assetPrefix begins the paths of files that all pages share. It is no token: tokens are longer.
const assetPrefix = Prefix + "assets/"

// assets are the shared files by their path, which changes with their content. Browsers keep them for the next page.
var assets = map[string]staticfile.File{}

// currentAssets are the same files by their path without the hash of their content. Browsers do not keep them.
var currentAssets = map[string]staticfile.File{}

// The paths of the style sheet and the script.
var (
	stylePath  = addAsset("style.css", "text/css; charset=utf-8", styleSheet)
	scriptPath = addAsset("site.js", "text/javascript; charset=utf-8", script)
)

func addAsset(name, contentType string, content []byte) string {
	sum := sha256.Sum256(content)
	extension := path.Ext(name)
	address := assetPrefix + name[:len(name)-len(extension)] + "." + hex.EncodeToString(sum[:6]) + extension
	assets[address] = staticfile.New(contentType, staticfile.Versioned, content)
	currentAssets[assetPrefix+name] = staticfile.New(contentType, "no-store", content)
	return address
}

var assetHash = regexp.MustCompile(`\.[0-9a-f]{12}(\.[a-z0-9]+)$`)

// assetOfOtherVersion returns this version's file for the path that it has in another version. While gateways of two versions
// serve, the page of one may load its files from the other.
func assetOfOtherVersion(path string) (staticfile.File, bool) {
	unhashed := assetHash.ReplaceAllString(path, "$1")
	f, ok := currentAssets[unhashed]
	return f, ok && unhashed != path
}

// font is a typeface. It is used only if it arrives before the first text is drawn, so that nothing moves: on a slow network the
// first page has the font of the device, and the next one the font of the brand.
type font struct {
	// path is the file with Latin letters, which every page needs. The other one is requested when a page has such letters.
	path string
	// rules declare both files for the style sheet.
	rules string
	// files are the contents by path.
	files map[string][]byte
}

var fonts = map[string]font{
	typeSerif:    newFont("fraunces"),
	typeGrotesk:  newFont("hanken-grotesk"),
	typeHumanist: newFont("source-sans-3"),
}

func newFont(name string) font {
	f := font{files: map[string][]byte{}}
	for part, letters := range map[string]string{
		"latin":     "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC",
		"latin-ext": "U+0100-0130,U+0132-0151,U+0154-02BA,U+1E00-1EFF",
	} {
		content, err := fontFiles.ReadFile("fonts/" + name + "-" + part + ".woff2")
		if err != nil {
			panic(err) // It is embedded.
		}
		address := addAsset(name+"-"+part+".woff2", "font/woff2", content)
		f.files[address] = content
		f.rules += fmt.Sprintf(
			`@font-face{font-family:Brand;font-weight:500;font-display:optional;src:url(%s) format("woff2");unicode-range:%s}`, address,
			letters,
		)
		if part == "latin" {
			f.path = address
		}
	}
	return f
}
