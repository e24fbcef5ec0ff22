package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

// referenceMarkdown is the text of the reference.
func (b *builder) referenceMarkdown() (string, error) {
	document := b.document.Root
	out := &strings.Builder{}
	fmt.Fprintf(out,
		"# API reference\n\n%s\n\nBase address: `%s`. The OpenAPI document is [YAML](%s.yaml) or [JSON](%[3]s.json).\n\n%s\n",
		document.Get("info", "summary"), b.document.PublicURL, b.base+documentPath, b.prose(document.Get("info", "description")))
	for _, tag := range document.Get("tags").All() {
		name := tag.Get("name").String()
		fmt.Fprintf(out, "\n## %s\n\n%s\n", name, b.prose(tag.Get("description")))
		for _, kind := range []string{"paths", "webhooks"} {
			for _, op := range operationsIn(document, kind) {
				if !op.Get("tags").Has(name) {
					continue
				}
				if err := b.writeOperation(out, op, kind == "paths"); err != nil {
					return "", err
				}
			}
		}
	}
	out.WriteString(
		"\n## Schemas\n\nIn a response every member is present. If its type says “or null”, null means that there is no value.\n",
	)
	for _, schema := range document.Get("components", "schemas").All() {
		fmt.Fprintf(out, "\n### %s {#schema-%[1]s}\n\n", schema.Name)
		if text := b.prose(schema.Get("description")); text != "" {
			out.WriteString(marks(schema) + text + "\n\n")
		}
		if options := schema.Options(); len(options) > 1 {
			fmt.Fprintf(out, "One of: %s.\n\n", typeOf(schema))
		}
		for _, p := range schema.Get("properties").All() {
			b.writeField(out, p.Name, "", schema.Get("required").Has(p.Name), p, p)
		}
	}
	return out.String(), nil
}

// prose is a text of the document with links within the site.
func (b *builder) prose(n openapi.Node) string {
	return strings.TrimSpace(strings.ReplaceAll(n.String(), "](docs/", "]("+b.base+sitePath+"/"))
}

// writeOperation writes an operation with its samples, or a webhook, which readers do not call.
func (b *builder) writeOperation(out *strings.Builder, op operation, called bool) error {
	try := ""
	if called && b.document.Environment == apikey.Sandbox {
		try = fmt.Sprintf(" [Try it](%s%s)", tryName, tryAnchor(op))
	}
	fmt.Fprintf(out, "\n### %s {#%s}\n\n`%s %s`%s\n\n%s%s\n\n", op.Get("summary"), op.ID(), op.Method, op.Path, try, marks(op.Node),
		b.prose(op.Get("description")))
	for _, p := range op.Get("parameters").All() {
		b.writeField(out, p.Get("name").String(), p.Get("in").String()+", ", p.Get("required").Has(yes), p, p.Get("schema"))
	}
	if called {
		samples, err := b.samplesOf(op)
		if err != nil {
			return err
		}
		for _, s := range samples {
			fmt.Fprintf(out, "\n```%s\n%s\n```\n", s.Language, s.Source)
		}
	}
	if body := op.Get("requestBody", "content", "application/json"); body.Exists() {
		fmt.Fprintf(out, "\nBody: %s\n", typeOf(body.Get("schema")))
		if err := writeExamples(out, body); err != nil {
			return err
		}
	}
	out.WriteString("\nResponses:\n\n")
	for _, response := range op.Get("responses").All() {
		var codes []string
		for _, example := range response.Get("content", "application/problem+json", "examples").All() {
			codes = append(codes, "`"+example.Name+"`")
		}
		kind := strings.Join(codes, ", ")
		if schema := response.Get("content", "application/json", "schema"); schema.Exists() {
			kind = typeOf(schema)
		}
		fmt.Fprintf(out, "- **%s** %s%s\n  %s\n", response.Name, marks(response), kind, indented(b.prose(response.Get("description"))))
	}
	return writeExamples(out, op.Get("responses", b.success(op), "content", "application/json"))
}

// success is the status of the response without an error.
func (b *builder) success(op operation) string {
	for _, response := range op.Get("responses").All() {
		if strings.HasPrefix(response.Name, "2") {
			return response.Name
		}
	}
	return ""
}

func writeExamples(out *strings.Builder, media openapi.Node) error {
	for _, example := range media.Get("examples").All() {
		value, err := example.Get("value").JSON()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\nExample: %s\n\n```json\n%s\n```\n", example.Get("summary"), value)
	}
	return nil
}

// writeField writes a parameter or a property as an item of a list.
func (b *builder) writeField(out *strings.Builder, name, place string, required bool, described, schema openapi.Node) {
	kind := place + typeOf(schema)
	if schema.Nullable() {
		kind += " or null"
	}
	if required {
		kind += ", required"
	}
	fmt.Fprintf(out, "- `%s` (%s) %s%s", name, kind, marks(described), indented(b.prose(described.Get("description"))))
	if values := schema.Values(); len(values) > 0 {
		fmt.Fprintf(out, " Values: `%s`.", strings.Join(values, "`, `"))
	}
	if limits := schema.Limits(); len(limits) > 0 {
		fmt.Fprintf(out, " Limits: %s.", strings.Join(limits, "; "))
	}
	out.WriteString("\n")
}

// indented keeps the lines of a text in their item of a list.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// marks say that a part was not in the first published contract, or will go away.
func marks(n openapi.Node) string {
	var b strings.Builder
	for _, badge := range n.Badges() {
		b.WriteString("*" + badge + "* ")
	}
	return b.String()
}

// typeOf names the type of a schema, with a link to a named one.
func typeOf(schema openapi.Node) string {
	switch {
	case schema.SchemaName() != "":
		return "[" + schema.SchemaName() + "](#schema-" + schema.SchemaName() + ")"
	case schema.Get("items").Exists():
		return "array of " + typeOf(schema.Get("items"))
	case schema.Get("additionalProperties").Exists():
		return "object of " + typeOf(schema.Get("additionalProperties"))
	}
	if options := schema.Options(); len(options) > 1 || !schema.Get("type").Exists() && len(options) == 1 &&
		options[0].SchemaName() != "" {
		names := make([]string, len(options))
		for i, option := range options {
			names[i] = typeOf(option)
		}
		return strings.Join(names, " or ")
	}
	kind := strings.Join(slices.Compact(schema.Types()), " or ")
	if format := schema.Get("format").String(); format != "" {
		kind += " (" + format + ")"
	}
	return kind
}
