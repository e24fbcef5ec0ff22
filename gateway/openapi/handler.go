// Package openapi builds and serves the reference of the public API: the OpenAPI document, three HTML pages, and the change log as
// an Atom feed.
//
// The document is written by hand in the files of document/; those named *-sandbox-* are in the document of the sandbox only. Its examples come from examples.yaml, the texts of the page of
// errors from errors.yaml. Tests compare the document with the operations, the contracts, the codes of pkg/problem and the
// field lengths.
//
// changes.yaml is the change log. Its deprecations are the only ones that there are: from them come the headers of affected answers
// (Reference.Deprecate), `deprecated` in the document, and their entries in the change log.
//
// New makes everything once. The pages need no scripts, fonts or further requests, and their Content-Security-Policy allows
// none.
package openapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
)

// The paths that the handler serves, below the base path of the API.
const (
	referencePath = "/docs"
	errorsPath    = "/docs/errors"
	changelogPath = "/docs/changelog"
	atomPath      = "/docs/changelog.atom"
	jsonPath      = "/openapi.json"
	yamlPath      = "/openapi.yaml"
)

// Serves reports whether the handler of New serves the path, given without the base path of the API.
func Serves(path string) bool {
	switch path {
	case referencePath, errorsPath, changelogPath, atomPath, jsonPath, yamlPath:
		return true
	}
	return false
}

// New returns the reference of an environment's API that callers reach at publicURL. Without changes, those of changes.yaml count.
func New(publicURL string, environment apikey.Environment, changes Changes) (*Reference, error) {
	publicURL = strings.TrimSuffix(publicURL, "/")
	if changes == nil {
		var err error
		if changes, err = published(); err != nil {
			return nil, err
		}
	}
	root, found, err := build(publicURL, environment, changes)
	if err != nil {
		return nil, err
	}
	files := map[string]staticfile.File{}
	for path, source := range map[string]struct {
		contentType string
		make        func() ([]byte, error)
	}{
		referencePath: {"text/html; charset=utf-8", func() ([]byte, error) { return referencePage(root) }},
		errorsPath:    {"text/html; charset=utf-8", errorsPage},
		changelogPath: {"text/html; charset=utf-8", func() ([]byte, error) { return changesPage(changes) }},
		atomPath:      {"application/atom+xml; charset=utf-8", func() ([]byte, error) { return changesFeed(changes, publicURL+changelogPath) }},
		jsonPath:      {"application/json", func() ([]byte, error) { return toJSON(root) }},
		yamlPath:      {"application/yaml", func() ([]byte, error) { return toYAML(root) }},
	} {
		content, err := source.make()
		if err != nil {
			return nil, err
		}
		files[path] = staticfile.New(source.contentType, staticfile.Revalidate, content)
	}
	return &Reference{notices: found, Handler: staticfile.Handler{
		Files: files, Policy: contentSecurityPolicy, Errors: httperror.Writer{DocsURL: publicURL + referencePath},
	}}, nil
}

// Document returns the OpenAPI document as YAML, as the handler of New serves it.
func Document(publicURL string, environment apikey.Environment) ([]byte, error) {
	changes, err := published()
	if err != nil {
		return nil, err
	}
	root, _, err := build(strings.TrimSuffix(publicURL, "/"), environment, changes)
	if err != nil {
		return nil, err
	}
	return toYAML(root)
}

// published is the change log of changes.yaml.
func published() (Changes, error) {
	raw, err := sources.ReadFile("changes.yaml")
	if err != nil {
		return nil, err
	}
	return ParseChanges(raw)
}

// build assembles the document and marks in it what is deprecated. The sandbox has everything, so a target that its document does not
// have is an error.
func build(publicURL string, environment apikey.Environment, changes Changes) (*yaml.Node, *notices, error) {
	root, err := assemble(publicURL, environment)
	if err != nil {
		return nil, nil, err
	}
	found, missing := deprecate(root, changes, publicURL+changelogPath)
	if missing != nil && environment == apikey.Sandbox {
		return nil, nil, fmt.Errorf("%w: there is no %s to deprecate", errChanges, missing)
	}
	return root, found, nil
}

// Reference serves the reference. It expects paths without the base path of the API.
type Reference struct {
	staticfile.Handler

	notices *notices
}

// contentSecurityPolicy allows the style sheet in the pages and nothing else.
var contentSecurityPolicy = func() string {
	sum := sha256.Sum256([]byte(styleSheet))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// errorView is an error as the page of errors shows it. Text has its cause and remedy.
type errorView struct {
	problem.Info
	Text node
}

// errorsPage shows every code of the registry, in its order.
func errorsPage() ([]byte, error) {
	file, err := readYAML("errors.yaml")
	if err != nil {
		return nil, fmt.Errorf("errors.yaml: %w", err)
	}
	texts := node{root: file, value: file}
	page := struct {
		Title  string
		Menu   []menu
		Errors []errorView
		Fields []node
	}{Title: "Errors of the Partner Gifting API", Fields: texts.Get("fields").All()}
	codes := menu{Title: "Codes"}
	for _, info := range problem.Registry() {
		page.Errors = append(page.Errors, errorView{info, texts.Get("codes", string(info.Code))})
		codes.Links = append(codes.Links, link{"#" + string(info.Code), string(info.Code)})
	}
	page.Menu = []menu{
		{Title: "Reference", Links: []link{{"../docs", "Partner Gifting API"}, {"changelog", "Change log"}, {"#field-codes", "Field codes"}}},
		codes,
	}
	return render("errors", page)
}

//go:embed pages/*.tmpl
var templateFiles embed.FS

//go:embed pages/style.css
var styleSheet string

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{
	"prose":  prose,
	"phrase": phrase,
	"slug":   slug,
	"style":  func() template.CSS { return template.CSS(styleSheet) }, //nolint:gosec // Part of this program.
}).ParseFS(templateFiles, "pages/*.tmpl"))

// menu is a titled group of links in the contents of a page.
type menu struct {
	Title string
	Links []link
}

type link struct {
	Href, Text string
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return b.Bytes(), nil
}
