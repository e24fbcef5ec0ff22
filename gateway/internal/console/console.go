// Package console serves the console of the sandbox: one page on which the holder of an API key sees orders, personal links, events
// and webhook deliveries live, acts on them and reads the requests that did it. The page calls the public API; this package only
// serves its files, without a build step.
//
// The library lit-html renders what comes from the API as text. Its files are those of the npm package, in the version of its
// folder.
package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/staticfile"
)

const (
	// Path of the page.
	Path = "/sandbox"
	// library is the folder of lit-html. Its name has the version.
	library = "lit-html-"
)

// contentSecurityPolicy allows the files of the page and calls of its own host. Only lit-html may make HTML, from templates.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html"

//go:embed assets
var assets embed.FS

// Serves reports whether the handler of New serves the path.
func Serves(path string) bool { return path == Path || strings.HasPrefix(path, Path+"/") }

// New returns the handler of the console for an API that callers reach at publicURL.
func New(publicURL string, errors httperror.Writer) (http.Handler, error) {
	base, err := url.Parse(publicURL)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	files := map[string]staticfile.File{}
	err = fs.WalkDir(assets, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assets.ReadFile(name)
		served, cache := strings.TrimPrefix(name, "assets/"), staticfile.Revalidate
		if strings.HasPrefix(served, library) {
			cache = staticfile.Versioned
		}
		files[Path+"/"+served] = staticfile.New(staticfile.TypeOf(name), cache, content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	page, err := renderPage(base.Path)
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	delete(files, Path+"/index.html")
	files[Path] = staticfile.New(staticfile.TypeOf("index.html"), staticfile.Revalidate, page)
	return &staticfile.Handler{Files: files, Policy: contentSecurityPolicy, Errors: errors}, nil
}

// renderPage renders index.html, which tells the scripts that the API is below base.
func renderPage(base string) ([]byte, error) {
	parsed, err := template.New("index.html").Funcs(template.FuncMap{"api": func() string { return base }}).ParseFS(assets,
		"assets/index.html")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, nil); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
