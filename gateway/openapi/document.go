// Package openapi builds the OpenAPI document of the public API.
//
// The document is written by hand in the files of document/; those named *-sandbox-* are in the document of the sandbox only. Its
// examples come from examples.yaml, and the lengths of texts from the protocol files. Tests compare the document with the
// operations, the contracts and the codes of pkg/problem.
//
// changes.yaml is the change log. Its deprecations are the only ones that there are: from them come the headers of affected answers
// (Notices.Deprecate), `deprecated` in the document, and their entries in the change log.
package openapi

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/pkg/apikey"
)

//go:embed document/*.yaml examples.yaml changes.yaml
var sources embed.FS

var errDocument = errors.New("OpenAPI document")

// Paths of the documentation below the public URL.
const (
	sitePath      = "/docs"
	changelogPath = sitePath + "/changelog"
)

// Document is the OpenAPI document of an environment.
type Document struct {
	// PublicURL is where callers reach the API, without a slash at its end.
	PublicURL   string
	Environment apikey.Environment
	Root        Node
	Changes     Changes
	// Notices are those of what is deprecated. They do not refer to the document, so that its megabytes can be freed.
	Notices *Notices
}

// New makes the document. Without changes, those of changes.yaml count. The sandbox has everything, so a deprecated target that its
// document does not have is an error.
func New(publicURL string, environment apikey.Environment, changes Changes) (*Document, error) {
	publicURL = strings.TrimSuffix(publicURL, "/")
	if changes == nil {
		raw, err := sources.ReadFile("changes.yaml")
		if err != nil {
			return nil, err
		}
		if changes, err = ParseChanges(raw); err != nil {
			return nil, err
		}
	}
	root, err := assemble(publicURL, environment)
	if err != nil {
		return nil, err
	}
	found, missing := deprecate(root, changes, publicURL+changelogPath)
	if missing != nil && environment == apikey.Sandbox {
		return nil, fmt.Errorf("%w: there is no %s to deprecate", errChanges, missing)
	}
	return &Document{publicURL, environment, NewNode(root), changes, found}, nil
}

// JSON writes the document as JSON.
func (d *Document) JSON() ([]byte, error) { return toJSON(d.Root.value) }

// YAML writes the document as YAML.
func (d *Document) YAML() ([]byte, error) { return toYAML(d.Root.value) }

// sandboxParts are in the document of the sandbox only.
const sandboxParts = "document/4?-sandbox-*.yaml"

// assemble expands the parts of an environment and merges them in the order of their names.
func assemble(publicURL string, environment apikey.Environment) (*yaml.Node, error) {
	x, err := newExpander(publicURL)
	if err != nil {
		return nil, fmt.Errorf("%w: examples.yaml: %w", errDocument, err)
	}
	names, err := fs.Glob(sources, "document/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range names {
		if only, _ := path.Match(sandboxParts, name); only && environment != apikey.Sandbox {
			continue
		}
		if err := x.addPart(root, name); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errDocument, name, err)
		}
	}
	addLengths(root)
	addForcedAnswers(NewNode(root))
	inlineParametersOfWebhooks(NewNode(root))
	return root, nil
}

// inlineParametersOfWebhooks moves the parameters of webhooks from the components to the webhooks, because some generators drop
// components that no path uses and then refer to what they dropped.
func inlineParametersOfWebhooks(document Node) {
	shared := document.Get("components", "parameters").value
	var moved []string
	for _, hook := range document.Get("webhooks").All() {
		parameters := hook.Get("post", "parameters").value
		for i, parameter := range parameters.Content {
			name := path.Base(member(parameter, "$ref").Value)
			parameters.Content[i] = member(shared, name)
			moved = append(moved, name)
		}
	}
	for i := len(shared.Content) - 2; i >= 0; i -= 2 {
		if slices.Contains(moved, shared.Content[i].Value) {
			shared.Content = slices.Delete(shared.Content, i, i+2)
		}
	}
}

func (x *expander) addPart(root *yaml.Node, name string) error {
	part, err := readYAML(name)
	if err != nil {
		return err
	}
	expanded, err := x.expand(part)
	if err != nil {
		return err
	}
	return merge(root, expanded)
}

func readYAML(name string) (*yaml.Node, error) {
	raw, err := sources.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseYAML(raw)
}

func parseYAML(raw []byte) (*yaml.Node, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	return file.Content[0], nil
}

// merge adds the members of one mapping to another; mappings and lists with the same name are merged too.
func merge(into, from *yaml.Node) error {
	for i := 0; i < len(from.Content); i += 2 {
		name, value := from.Content[i], from.Content[i+1]
		present := member(into, name.Value)
		switch {
		case present == nil:
			into.Content = append(into.Content, name, value)
		case present.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			if err := merge(present, value); err != nil {
				return fmt.Errorf("%s: %w", name.Value, err)
			}
		case present.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode:
			present.Content = append(present.Content, value.Content...)
		default:
			return fmt.Errorf("%w: %s is defined twice", errDocument, name.Value)
		}
	}
	return nil
}

// member returns the value of a mapping's member, or nil.
func member(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func toYAML(root *yaml.Node) ([]byte, error) {
	const indent = 2
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(indent)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	return b.Bytes(), nil
}
