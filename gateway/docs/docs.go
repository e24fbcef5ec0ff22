// Package docs serves the documentation of the public API: guides, the reference, the errors, the change log, and the same for
// programs.
//
// Every page is made from Markdown, which is served beside it, and needs no script: guides/*.md, errors.yaml, and the change log
// and the document of package openapi. In the sandbox there is one more page, from which readers send requests: it loads Scalar,
// which this package carries, and the document with samples. Nothing comes from another host, and the Content-Security-Policy
// allows none.
//
// In a guide, code blocks in several languages that follow each other become tabs, and a quote whose first line is [!NOTE] or
// [!WARNING] becomes a note. The comment <!-- samples: getMe --> before a shell command adds the samples of the SDKs to it.
package docs

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
)

// Paths below the base path of the API.
const (
	sitePath     = "/docs"
	llmsText     = "/llms.txt"
	assetsPath   = sitePath + "/assets/"
	documentPath = "/openapi"
	documentJSON = documentPath + ".json"
	documentYAML = documentPath + ".yaml"
)

// contentSecurityPolicy is that of all pages but the one that sends requests. Scripts may not make HTML.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
	textType     = "text/plain; charset=utf-8"
	jsonType     = "application/json"
	yamlType     = "application/yaml"
)

// Site serves the documentation, and a page with links to it at every other address that is not of the API. It needs no API key.
type Site struct {
	base, basePath string
	// files makes the files when they are first read, because that takes a part of a second.
	files  func() (staticfile.Handler, error)
	errors httperror.Writer
}

// Serves reports whether the path belongs to the site: all but those of the API. The * of OPTIONS * is no path.
func (s *Site) Serves(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	below, inside := strings.CutPrefix(path, s.basePath)
	if !inside || below != "" && below[0] != '/' {
		return true
	}
	return strings.HasPrefix(below, sitePath+"/") || slices.Contains([]string{
		sitePath, sitePath + markdownSuffix, documentJSON, documentYAML,
	}, below)
}

// Has reports whether the site has a file at the path.
func (s *Site) Has(path string) bool {
	made, _ := s.files() // ServeHTTP reports the error.
	_, found := made.Files[path]
	return found
}

// Paths of all files. There is an error if they cannot be made.
func (s *Site) Paths() ([]string, error) {
	made, err := s.files()
	return slices.Sorted(maps.Keys(made.Files)), err
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if to := s.redirectTarget(r.URL.Path); to != "" {
		w.Header().Set("Cache-Control", staticfile.Revalidate)
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	made, err := s.files()
	switch {
	case err != nil:
		s.errors.Write(r.Context(), w, err)
	case strings.HasSuffix(r.URL.Path, markdownSuffix) && !s.Has(r.URL.Path):
		http.Error(w, "There is no such page. "+s.base+sitePath+llmsText+" lists all.", http.StatusNotFound) // Not a page of HTML.
	default:
		made.ServeHTTP(w, r)
	}
}

// redirectTarget returns where the file is that people look for at another path: with a slash at its end, at the root of the host,
// or the overview as docs.md. Programs look for llms.txt there too.
func (s *Site) redirectTarget(path string) string {
	name := strings.TrimRight(path, "/")
	if before, overview := strings.CutSuffix(name, sitePath+markdownSuffix); overview {
		name = before + sitePath + "/index" + markdownSuffix
	}
	if name == llmsText {
		name = sitePath + llmsText
	}
	for _, file := range []string{name, s.basePath + name, s.basePath + name + sitePath} {
		if below, inside := strings.CutPrefix(file, s.basePath); inside && file != path && !s.Has(path) && s.Has(file) {
			return s.base + below
		}
	}
	return ""
}

// builder collects the files of a site.
type builder struct {
	document *openapi.Document
	// base is the path of the API as browsers see it. It can differ from basePath behind a proxy.
	base, basePath string
	// samples are those that the SDKs have, by the ids of operations.
	samples  map[string][]sample
	operator Operator
	files    map[string]staticfile.File
	// notFound is the page for addresses at which there is none.
	notFound staticfile.File
}

// New makes the site of a document. basePath is that of the API: the site is below it, except what browsers and crawlers look for
// at the root of the host.
func New(document *openapi.Document, basePath string, operator Operator, log *slog.Logger) (*Site, error) {
	public, err := url.Parse(document.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	b := &builder{
		document: document,
		base:     public.Path,
		basePath: basePath,
		operator: operator,
		files:    map[string]staticfile.File{},
	}
	errors := httperror.Writer{DocsURL: document.PublicURL + sitePath, Log: log}
	return &Site{base: b.base, basePath: basePath, errors: errors, files: sync.OnceValues(func() (staticfile.Handler, error) {
		err := b.build()
		return staticfile.Handler{Files: b.files, Missing: &b.notFound, Policy: contentSecurityPolicy, Errors: errors}, err
	})}, nil
}

func (b *builder) build() (err error) {
	if b.samples, err = ownSamples(); err != nil {
		return fmt.Errorf("docs: %w", err)
	}
	for _, add := range []func() error{b.addDocument, b.addAssets, b.addPages, b.addTry, b.addPostman, b.addAsyncAPI} {
		if err := add(); err != nil {
			return fmt.Errorf("docs: %w", err)
		}
	}
	return nil
}

func (b *builder) addFile(path string, f staticfile.File) { b.files[b.basePath+path] = f }

// addDocument adds the OpenAPI document, which tools on other sites may load.
func (b *builder) addDocument() error {
	asJSON, err := b.document.JSON()
	if err != nil {
		return err
	}
	asYAML, err := b.document.YAML()
	if err != nil {
		return err
	}
	b.addFile(documentJSON, staticfile.New(jsonType, staticfile.Revalidate, asJSON).ForAnyOrigin())
	b.addFile(documentYAML, staticfile.New(yamlType, staticfile.Revalidate, asYAML).ForAnyOrigin())
	return nil
}

//go:embed assets
var assets embed.FS

// addAssets adds the files that pages load. Browsers and crawlers look for two of them at the root of the host.
func (b *builder) addAssets() error {
	err := fs.WalkDir(assets, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		f := staticfile.New(staticfile.TypeOf(name), staticfile.Revalidate, content)
		b.addFile(assetsPath+strings.TrimPrefix(name, "assets/"), f)
		if path.Base(name) == "favicon.ico" {
			b.files["/favicon.ico"] = f
		}
		return nil
	})
	// The pages of links and their pictures are for previews in messengers. Their headers keep them out of search engines.
	robots := "User-agent: *\nAllow: " + b.base + sitePath + "\nAllow: " + b.base + documentPath +
		"\nAllow: /c/\nAllow: " + b.base + "/catalog/images/\nDisallow: /\n"
	b.files["/robots.txt"] = staticfile.New(textType, staticfile.Revalidate, []byte(robots))
	return err
}
