package openapi

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"go.yaml.in/yaml/v3"
)

const schemaRef = "#/components/schemas/"

// node is a value of the document for templates. Name is the name of its member.
type node struct {
	Name        string
	root, value *yaml.Node
}

// child follows references, except those to schemas.
func (n node) child(name string, value *yaml.Node) node {
	if ref := member(value, "$ref"); ref != nil && !strings.HasPrefix(ref.Value, schemaRef) {
		value = node{root: n.root, value: n.root}.Get(strings.Split(strings.TrimPrefix(ref.Value, "#/"), "/")...).value
	}
	return node{Name: name, root: n.root, value: value}
}

// Get returns the value at a path of member names. It may be missing.
func (n node) Get(names ...string) node {
	for _, name := range names {
		n = n.child(name, member(n.value, name))
	}
	return n
}

// Exists reports whether the document has the value.
func (n node) Exists() bool { return n.value != nil }

// All returns the members of a mapping or the elements of a list.
func (n node) All() (all []node) {
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
func (n node) String() string {
	if !n.Exists() {
		return ""
	}
	return n.value.Value
}

// Has reports whether the value equals the text, or is a list with it.
func (n node) Has(text string) bool {
	return n.String() == text || slices.ContainsFunc(n.All(), func(element node) bool { return element.String() == text })
}

// Badges say that the value was not in the first published contract, or will go away.
func (n node) Badges() (badges []string) {
	for _, b := range [][2]string{{"x-extension", "extension"}, {deprecated, deprecated}} {
		if n.Get(b[0]).Has("true") {
			badges = append(badges, b[1])
		}
	}
	return badges
}

// JSON returns the value as indented JSON.
func (n node) JSON() (string, error) {
	text, err := toJSON(n.value)
	return strings.TrimSpace(string(text)), err
}

// SchemaName returns the name of the schema that the node refers to.
func (n node) SchemaName() string { return strings.TrimPrefix(n.Get("$ref").String(), schemaRef) }

const null = "null"

// Nullable reports whether a schema allows null.
func (n node) Nullable() bool {
	return n.Get("type").Has(null) || slices.ContainsFunc(n.Get("oneOf").All(), func(option node) bool { return option.Get("type").String() == null })
}

// Options are the alternatives of a schema without null, or the schema itself.
func (n node) Options() []node {
	options := append(n.Get("oneOf").All(), n.Get("anyOf").All()...)
	if len(options) == 0 {
		return []node{n}
	}
	return slices.DeleteFunc(options, func(option node) bool { return option.Get("type").String() == null })
}

// Types are the types of a schema without null.
func (n node) Types() (types []string) {
	kind := n.Get("type")
	for _, t := range append(kind.All(), kind) {
		if text := t.String(); text != "" && text != null {
			types = append(types, text)
		}
	}
	return types
}

// Values are the values of an enumeration without null.
func (n node) Values() (values []string) {
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
func (n node) Limits() (limits []string) {
	minItems, maxItems, minimum, maximum := n.Get("minItems"), n.Get("maxItems"), n.Get("minimum"), n.Get("maximum")
	pattern := n.Get("pattern")
	for _, limit := range []struct {
		applies bool
		text    string
	}{
		{n.Get("maxLength").Exists(), fmt.Sprintf("at most %s characters", n.Get("maxLength"))},
		{minItems.Exists() && minItems.String() == maxItems.String(), fmt.Sprintf("exactly %s", maxItems)},
		{maxItems.Exists() && minItems.String() != maxItems.String(), fmt.Sprintf("at most %s", maxItems)},
		{minItems.Exists() && !maxItems.Exists(), fmt.Sprintf("at least %s", minItems)},
		{minimum.Exists() && maximum.Exists(), fmt.Sprintf("%s to %s", minimum, maximum)},
		{minimum.Exists() && !maximum.Exists(), fmt.Sprintf("at least %s", minimum)},
		{pattern.Exists() && pattern.String() != `\S`, fmt.Sprintf("matches %s", pattern)},
		{n.Get("default").Exists(), fmt.Sprintf("default %s", n.Get("default"))},
	} {
		if limit.applies {
			limits = append(limits, limit.text)
		}
	}
	return limits
}

// By default, goldmark omits raw HTML.
var converter = goldmark.New(goldmark.WithExtensions(extension.Table))

// prose converts a CommonMark text to HTML.
func prose(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := converter.Convert([]byte(text), &b); err != nil {
		return "", fmt.Errorf("%w: %w", errDocument, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // The texts are part of this program.
}

// phrase is prose of one paragraph, without the paragraph.
func phrase(text string) (template.HTML, error) {
	html, err := prose(text)
	inner, one := strings.CutPrefix(strings.TrimSpace(string(html)), "<p>")
	inner, closed := strings.CutSuffix(inner, "</p>")
	if err != nil || !one || !closed || strings.Contains(inner, "<p>") {
		return html, err
	}
	return template.HTML(inner), nil //nolint:gosec // The texts are part of this program.
}

// section is the part of a text from one heading of the second level to the next.
type section struct {
	ID, Title, Text string
}

// sections splits a text at its headings of the second level. The text before them is the lead.
func sections(text string) (lead string, found []section) {
	const mark = "\n## "
	lead, rest, more := strings.Cut("\n"+text, mark)
	for more {
		var part string
		part, rest, more = strings.Cut(rest, mark)
		title, body, _ := strings.Cut(part, "\n")
		found = append(found, section{ID: slug(title), Title: title, Text: body})
	}
	return strings.TrimSpace(lead), found
}

// slug makes an anchor of a name.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
}
