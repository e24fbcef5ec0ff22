package docs

import (
	"crypto/rand"
	_ "embed"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

const (
	referenceName = "reference"
	yes           = "true"
	rendererPath  = sitePath + "/scalar-1.72.1.js"
	// tryName is the name of the page that sends requests.
	tryName = referenceName + "/try"
)

// scalar is the file dist/browser/standalone.js of the npm package @scalar/api-reference; `make renderer` fetches it.
//
//go:embed renderer/scalar-1.72.1/standalone.js.gz
var scalar []byte

// addTry adds the page of the sandbox that sends requests, with Scalar. Its style sheets are made by its scripts, so they need a
// nonce, and so the page is fresh. Scalar sets attributes of style too, which no nonce covers: they may be inline, on this page
// only.
func (b *builder) addTry() error {
	if b.document.Environment != apikey.Sandbox {
		return nil
	}
	shown, err := b.shownDocument()
	if err != nil {
		return err
	}
	b.addFile(sitePath+"/reference.json", staticfile.New(jsonType, staticfile.Revalidate, shown))
	b.addFile(rendererPath, staticfile.FromGzip(staticfile.TypeOf(rendererPath), staticfile.Versioned, scalar))
	const marker = "NONCE"
	html, err := b.render("try", view{Nonce: marker, Page: &page{Name: tryName, Title: "Try the API"}})
	if err != nil {
		return err
	}
	b.addFile(pagePath("", tryName), staticfile.Fresh(htmlType, func() ([]byte, string) {
		nonce := rand.Text()
		policy := "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonce + "'; style-src-attr 'unsafe-inline'; " +
			"img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
		return []byte(strings.ReplaceAll(string(html), marker, nonce)), policy
	}))
	return nil
}

// tryAnchor is where Scalar shows an operation.
func tryAnchor(op operation) string {
	tag := op.Get("tags").All()[0].String()
	return "#tag/" + strings.ReplaceAll(strings.ToLower(tag), " ", "-") + "/" + op.Method + op.Path
}

// shownDocument is the document as the page that sends requests loads it: with samples, badges of extensions and links within the
// site.
func (b *builder) shownDocument() ([]byte, error) {
	written, err := b.document.YAML()
	if err != nil {
		return nil, err
	}
	var file yaml.Node
	if err := yaml.Unmarshal(written, &file); err != nil {
		return nil, err
	}
	root := file.Content[0]
	for _, op := range operationsOf(openapi.NewNode(root)) {
		samples, err := b.samplesOf(op)
		if err != nil {
			return nil, err
		}
		if err := op.Set("x-codeSamples", samples); err != nil {
			return nil, err
		}
	}
	if err := b.adapt(root); err != nil {
		return nil, err
	}
	asJSON, err := openapi.NewNode(root).JSON()
	return []byte(asJSON), err
}

// adapt changes a value and what is in it for readers of the page: links, optional parameters and the badges of extensions.
func (b *builder) adapt(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		n.Value = strings.ReplaceAll(n.Value, "](docs/", "]("+b.base+sitePath+"/")
		return nil
	}
	for _, child := range n.Content {
		if err := b.adapt(child); err != nil {
			return err
		}
	}
	value := openapi.NewNode(n)
	if value.Get("in").Exists() && value.Get("schema").Exists() && !value.Get("required").Has(yes) {
		if err := leaveOut(value); err != nil {
			return err
		}
	}
	if !value.Get("x-extension").Has(yes) {
		return nil
	}
	if value.Get("operationId").Exists() {
		return value.Set("x-badges", []map[string]string{{"name": "extension"}})
	}
	return value.Set("description", strings.TrimSpace("**Extension.** "+value.Get("description").String()))
}

// leaveOut leaves an optional parameter out of requests until the reader gives it a value. Scalar would send its example, or the
// first value of its list.
func leaveOut(parameter openapi.Node) error {
	parameter.Delete("example")
	schema := parameter.Get("schema")
	if !schema.Get("enum").Exists() {
		return nil
	}
	values := schema.Values()
	schema.Delete("enum")
	return parameter.Set("description",
		strings.TrimSpace(parameter.Get("description").String())+" Values: `"+strings.Join(values, "`, `")+"`.")
}

// operation is an operation of the document, or a webhook.
type operation struct {
	openapi.Node
	Method, Path string
}

// ID is the operationId.
func (o operation) ID() string { return o.Get("operationId").String() }

// operationsOf returns the operations in the order of the document, without webhooks.
func operationsOf(document openapi.Node) []operation { return operationsIn(document, "paths") }

func operationsIn(document openapi.Node, kind string) (found []operation) {
	for _, path := range document.Get(kind).All() {
		for _, op := range path.All() {
			if op.Get("operationId").Exists() {
				found = append(found, operation{op, strings.ToUpper(op.Name), path.Name})
			}
		}
	}
	return found
}

// parameters are those of the operation and of its path, which the caller sends in the place.
func (o operation) parameters(place string) []openapi.Node {
	return slices.DeleteFunc(o.Get("parameters").All(), func(p openapi.Node) bool { return p.Get("in").String() != place })
}
