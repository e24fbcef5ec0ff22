package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const schemaRef = "#/components/schemas/"

// Node is a value of the document. Name is the name of its member.
type Node struct {
	Name        string
	root, value *yaml.Node
}

// NewNode returns the root of a document.
func NewNode(root *yaml.Node) Node { return Node{root: root, value: root} }

// child follows references, except those to schemas.
func (n Node) child(name string, value *yaml.Node) Node {
	if ref := member(value, "$ref"); ref != nil && !strings.HasPrefix(ref.Value, schemaRef) {
		value = NewNode(n.root).Get(strings.Split(strings.TrimPrefix(ref.Value, "#/"), "/")...).value
	}
	return Node{Name: name, root: n.root, value: value}
}

// Get returns the value at a path of member names. It may be missing.
func (n Node) Get(names ...string) Node {
	for _, name := range names {
		n = n.child(name, member(n.value, name))
	}
	return n
}

// Set sets a member of a mapping.
func (n Node) Set(name string, value any) error {
	var encoded yaml.Node
	if err := encoded.Encode(value); err != nil {
		return fmt.Errorf("%w: %s: %w", errDocument, name, err)
	}
	if present := member(n.value, name); present != nil {
		*present = encoded
	} else {
		n.value.Content = append(n.value.Content, scalar(name), &encoded)
	}
	return nil
}

// Delete removes a member of a mapping.
func (n Node) Delete(name string) {
	for i := 0; i < len(n.value.Content); i += 2 {
		if n.value.Content[i].Value == name {
			n.value.Content = slices.Delete(n.value.Content, i, i+2)
			return
		}
	}
}

// Exists reports whether the document has the value.
func (n Node) Exists() bool { return n.value != nil }

// All returns the members of a mapping or the elements of a list.
func (n Node) All() (all []Node) {
	switch {
	case !n.Exists():
	case n.value.Kind == yaml.SequenceNode:
		for _, element := range n.value.Content {
			all = append(all, n.child("", element))
		}
	case n.value.Kind == yaml.MappingNode:
		for i := 0; i < len(n.value.Content); i += 2 {
			all = append(all, n.child(n.value.Content[i].Value, n.value.Content[i+1]))
		}
	}
	return all
}

// String returns the text of a scalar.
func (n Node) String() string {
	if !n.Exists() {
		return ""
	}
	return n.value.Value
}

// Has reports whether the value equals the text, or is a list with it.
func (n Node) Has(text string) bool {
	return n.String() == text || slices.ContainsFunc(n.All(), func(element Node) bool { return element.String() == text })
}

// Badges say that the value was not in the first published contract, or will go away.
func (n Node) Badges() (badges []string) {
	for _, b := range [][2]string{{"x-extension", "extension"}, {deprecated, deprecated}} {
		if n.Get(b[0]).Has("true") {
			badges = append(badges, b[1])
		}
	}
	return badges
}

// JSON returns the value as indented JSON.
func (n Node) JSON() (string, error) {
	text, err := toJSON(n.value)
	return strings.TrimSpace(string(text)), err
}

// Value decodes the value.
func (n Node) Value() (value any, err error) {
	if n.Exists() {
		err = n.value.Decode(&value)
	}
	return value, err
}

// SchemaName returns the name of the schema that the node refers to.
func (n Node) SchemaName() string { return strings.TrimPrefix(n.Get("$ref").String(), schemaRef) }

const null = "null"

// Nullable reports whether a schema allows null.
func (n Node) Nullable() bool {
	return n.Get("type").Has(null) ||
		slices.ContainsFunc(n.Get("oneOf").All(), func(option Node) bool { return option.Get("type").String() == null })
}

// Options are the alternatives of a schema without null, or the schema itself.
func (n Node) Options() []Node {
	options := append(n.Get("oneOf").All(), n.Get("anyOf").All()...)
	if len(options) == 0 {
		return []Node{n}
	}
	return slices.DeleteFunc(options, func(option Node) bool { return option.Get("type").String() == null })
}

// Types are the types of a schema without null.
func (n Node) Types() (types []string) {
	kind := n.Get("type")
	for _, t := range append(kind.All(), kind) {
		if text := t.String(); text != "" && text != null {
			types = append(types, text)
		}
	}
	return types
}

// Values are the values of an enumeration without null.
func (n Node) Values() (values []string) {
	if items := n.Get("items"); items.Exists() && !n.Get("enum").Exists() {
		return items.Values()
	}
	for _, v := range append(n.Get("enum").All(), n.Get("x-extensible-enum").All()...) {
		if v.Exists() && v.value.ShortTag() != "!!null" {
			values = append(values, v.String())
		}
	}
	return values
}

// Limits are the constraints of a schema in words.
func (n Node) Limits() (limits []string) {
	pattern := n.Get("pattern")
	for _, limit := range []struct {
		applies bool
		text    string
	}{
		{n.Get("maxLength").Exists(), fmt.Sprintf("at most %s characters", n.Get("maxLength"))},
		{n.Get("minItems").Exists() || n.Get("maxItems").Exists(), between(n.Get("minItems"), n.Get("maxItems"))},
		{n.Get("minimum").Exists() || n.Get("maximum").Exists(), between(n.Get("minimum"), n.Get("maximum"))},
		{pattern.Exists() && pattern.String() != `\S`, fmt.Sprintf("matches `%s`", pattern)},
		{n.Get("default").Exists(), fmt.Sprintf("default %s", n.Get("default"))},
	} {
		if limit.applies {
			limits = append(limits, limit.text)
		}
	}
	return limits
}

// between says in words what a number may be. One of the bounds may be absent.
func between(least, most Node) string {
	switch {
	case !least.Exists():
		return fmt.Sprintf("at most %s", most)
	case !most.Exists():
		return fmt.Sprintf("at least %s", least)
	case least.String() == most.String():
		return fmt.Sprintf("exactly %s", most)
	}
	return fmt.Sprintf("%s to %s", least, most)
}
