package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// spec is what the reference page shows of the document. References to anything but schemas are
// resolved in it.
type spec struct {
	Info struct {
		Title, Version, Summary, Description string
	}
	Servers []struct {
		URL string
	}
	Tags []struct {
		Name, Description string
	}
	Paths      ordered[ordered[operation]]
	Webhooks   ordered[ordered[operation]]
	Components struct {
		Schemas ordered[schema]
	}
}

type operation struct {
	OperationID string `yaml:"operationId"`
	Summary     string
	Description string
	Tags        []string
	Parameters  []parameter
	RequestBody *body `yaml:"requestBody"`
	Responses   ordered[response]
	// Security is empty, not nil, where no key is needed.
	Security []map[string][]string
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
	Example               yaml.Node
}

type body struct {
	Description string
	Required    bool
	Content     ordered[media]
}

type response struct {
	Description string
	Headers     ordered[struct {
		Description string
		Schema      schema
	}]
	Content ordered[media]
}

type media struct {
	Schema   *schema
	Examples ordered[struct {
		Summary string
		Value   yaml.Node
	}]
}

// ordered is a mapping whose members keep their order.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Name  string
	Value T
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		e := entry[T]{Name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&e.Value); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		*o = append(*o, e)
	}
	return nil
}

// get gives the member of a name, or nil.
func (o ordered[T]) get(name string) *T {
	i := slices.IndexFunc(o, func(e entry[T]) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return &o[i].Value
}

const schemaRef = "#/components/schemas/"

func newSpec(root *yaml.Node) (*spec, error) {
	resolved, err := resolve(root, root)
	if err != nil {
		return nil, err
	}
	s := &spec{}
	if err := resolved.Decode(s); err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	return s, nil
}

// resolve copies a node, putting what is referred to in the place of references; those to schemas
// stay.
func resolve(root, n *yaml.Node) (*yaml.Node, error) {
	if ref := member(n, "$ref"); ref != nil && !strings.HasPrefix(ref.Value, schemaRef) {
		target := root
		for name := range strings.SplitSeq(strings.TrimPrefix(ref.Value, "#/"), "/") {
			target = member(target, name)
		}
		if target == nil {
			return nil, fmt.Errorf("%w: nothing at %s", errDocument, ref.Value)
		}
		return resolve(root, target)
	}
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		r, err := resolve(root, child)
		if err != nil {
			return nil, err
		}
		c.Content = append(c.Content, r)
	}
	return &c, nil
}
