package docs

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed openapi/*.yaml
var parts embed.FS

// exampleURL stands in the document where the public URL belongs.
const exampleURL = "https://api.example.com/api/public/v1"

var errDocument = errors.New("OpenAPI document")

// assemble merges the parts in the order of their names and puts the public URL in.
func assemble(publicURL string) (*yaml.Node, error) {
	names, err := fs.Glob(parts, "openapi/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range names {
		raw, err := parts.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDocument, err)
		}
		var part yaml.Node
		if err := yaml.Unmarshal(raw, &part); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errDocument, name, err)
		}
		if err := merge(root, plain(part.Content[0], publicURL)); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errDocument, name, err)
		}
	}
	return root, setServer(root, publicURL)
}

// merge adds the members of one mapping to another; mappings under the same name are merged too.
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
		default:
			return fmt.Errorf("%w: %s stands twice", errDocument, name.Value)
		}
	}
	return nil
}

// member gives the value of a mapping's member, or nil.
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

// plain copies a node without comments, aliases and inline notation, which are for those who
// write the parts.
func plain(n *yaml.Node, publicURL string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return plain(n.Alias, publicURL)
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Style: n.Style &^ yaml.FlowStyle, Value: n.Value}
	if n.Kind == yaml.ScalarNode {
		c.Value = strings.ReplaceAll(n.Value, exampleURL, publicURL)
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, plain(child, publicURL))
	}
	return c
}

func setServer(root *yaml.Node, publicURL string) error {
	servers := member(root, "servers")
	if servers == nil {
		return fmt.Errorf("%w: no servers", errDocument)
	}
	var server yaml.Node
	if err := server.Encode(struct {
		URL         string `yaml:"url"`
		Description string `yaml:"description"`
	}{publicURL, "This environment."}); err != nil {
		return fmt.Errorf("%w: %w", errDocument, err)
	}
	servers.Content = []*yaml.Node{&server}
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
