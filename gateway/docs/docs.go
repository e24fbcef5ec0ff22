// Package docs serves the documentation of the public API: guides, the reference, the errors, the change log, and the same for programs.
//
// Every page but the reference is made from Markdown, which is served beside it, and needs no script: guides/*.md, errors.yaml, and the
// change log and the document of package openapi. The page of the reference loads Scalar, which this package carries, and the document
// with samples. Nothing comes from another host, and the Content-Security-Policy allows none.
package docs

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
)

// Paths below the base path of the API.
const (
	sitePath     = "/docs"
	assetsPath   = sitePath + "/assets/"
	documentPath = "/openapi"
)

// contentSecurityPolicy is that of all pages but the reference. Scripts may not make HTML.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
	textType     = "text/plain; charset=utf-8"
	jsonType     = "application/json"
	yamlType     = "application/yaml"
)

// Site serves the documentation, and a page for people at every address that is not of the API. It needs no API key.
type Site struct {
	staticfile.Handler

	base, basePath string
}

// Serves reports whether the path belongs to the site: all but those of the API. The target of OPTIONS * is none.
func (s *Site) Serves(path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	below, inside := strings.CutPrefix(path, s.basePath)
	if s.Has(path) || !inside || below != "" && below[0] != '/' {
		return true
	}
	return below == sitePath || strings.HasPrefix(below, sitePath+"/")
}

// Has reports whether the site has a file at the path.
func (s *Site) Has(path string) bool {
	_, found := s.Files[path]
	return found
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if to := s.moved(r.URL.Path); to != "" {
		w.Header().Set("Cache-Control", staticfile.Revalidate)
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	s.Handler.ServeHTTP(w, r)
}

// moved returns where the file is that people look for at another path: with a slash at its end, or at the root of the host.
func (s *Site) moved(path string) string {
	name := strings.TrimRight(path, "/")
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
	// anchors are where the page of the reference shows operations, by their ids.
	anchors map[string]string
	// samples are those that the SDKs have, by the ids of operations.
	samples map[string][]sample
	files   map[string]staticfile.File
	// missing is the page for addresses that nothing has.
	missing staticfile.File
}

// New makes the site of a document. basePath is that of the API: the site is below it, except what browsers and crawlers look for at the
// root of the host.
func New(document *openapi.Document, basePath string) (*Site, error) {
	public, err := url.Parse(document.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	b := &builder{document: document, base: public.Path, basePath: basePath, anchors: map[string]string{}, files: map[string]staticfile.File{}}
	if b.samples, err = ownSamples(); err != nil {
		return nil, fmt.Errorf("docs: %w", err)
	}
	for _, op := range operationsOf(document.Root) {
		b.anchors[op.ID()] = referenceAnchor(op)
	}
	for _, add := range []func() error{b.addDocument, b.addAssets, b.addPages, b.addReference, b.addPostman, b.addAsyncAPI} {
		if err := add(); err != nil {
			return nil, fmt.Errorf("docs: %w", err)
		}
	}
	return &Site{base: b.base, basePath: basePath, Handler: staticfile.Handler{
		Files: b.files, Missing: &b.missing, Policy: contentSecurityPolicy,
		Errors: httperror.Writer{DocsURL: document.PublicURL + sitePath},
	}}, nil
}

func (b *builder) add(path string, f staticfile.File) { b.files[b.basePath+path] = f }

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
	b.add(documentPath+".json", staticfile.New(jsonType, staticfile.Revalidate, asJSON).ForAnyOrigin())
	b.add(documentPath+".yaml", staticfile.New(yamlType, staticfile.Revalidate, asYAML).ForAnyOrigin())
	return nil
}
