// Package docs serves the documentation of the public API: guides, the reference, the errors, the change log, and the same for programs.
//
// Every page but the reference is made from Markdown, which is served beside it, and needs no script: guides/*.md, errors.yaml, and the
// change log and the document of package openapi. The page of the reference loads Scalar, which this package carries, and the document
// with samples. Nothing comes from another host, and the Content-Security-Policy allows none.
package docs

import (
	"fmt"
	"net/url"

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

// Site serves the documentation. It needs no API key.
type Site struct{ staticfile.Handler }

// Serves reports whether the site has the path.
func (s *Site) Serves(path string) bool {
	_, found := s.Files[path]
	return found
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
	return &Site{staticfile.Handler{
		Files: b.files, Policy: contentSecurityPolicy, Errors: httperror.Writer{DocsURL: document.PublicURL + sitePath},
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
