package docs

import (
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/pkg/problem"
)

const errorsName = "errors"

//go:embed errors.yaml
var errorTexts []byte

// errorCode is what the site knows of a code.
type errorCode struct {
	problem.Info
	Cause, Remedy string
	// Example is an error that the API document shows, as JSON. Operations are those that show it.
	Example    string
	Operations []operation
}

// errorCodes returns every code of the registry, in its order, and the texts of the field codes, in the order of errors.yaml.
func (b *builder) errorCodes() (codes []errorCode, fields yaml.Node, err error) {
	var texts struct {
		Codes  map[problem.Code]struct{ Cause, Remedy string }
		Fields yaml.Node
	}
	if err := yaml.Unmarshal(errorTexts, &texts); err != nil {
		return nil, fields, fmt.Errorf("errors.yaml: %w", err)
	}
	for _, info := range problem.Registry() {
		text := texts.Codes[info.Code]
		code := errorCode{Info: info, Cause: strings.TrimSpace(text.Cause), Remedy: strings.TrimSpace(text.Remedy)}
		if err := code.findExamples(operationsOf(b.document.Root)); err != nil {
			return nil, fields, err
		}
		codes = append(codes, code)
	}
	return codes, texts.Fields, nil
}

func (c *errorCode) findExamples(operations []operation) error {
	for _, op := range operations {
		for _, response := range op.Get("responses").All() {
			example := response.Get("content", "application/problem+json", "examples", string(c.Code), "value")
			if !example.Exists() || slices.ContainsFunc(c.Operations, func(known operation) bool { return known.ID() == op.ID() }) {
				continue
			}
			var err error
			if c.Example, err = example.JSON(); err != nil {
				return err
			}
			c.Operations = append(c.Operations, op)
		}
	}
	return nil
}

// pageName is the name of the page of a code.
func (c *errorCode) pageName() string { return errorsName + "/" + string(c.Code) }

// markdown is the page of the code. Calls are listed unless more than half of all operations return it.
func (c *errorCode) markdown(operationCount int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\nCode `%s`, status **%d**.\n\n## What to do {#remedy}\n\n%s\n",
		c.Title, c.Cause, c.Code, c.Status, c.Remedy)
	if len(c.Operations) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "\n## Example {#example}\n\n```http\nHTTP/1.1 %d %s\nContent-Type: application/problem+json\n\n%s\n```\n",
		c.Status, http.StatusText(c.Status), c.Example)
	b.WriteString("\n## Calls that return it {#calls}\n\n")
	if len(c.Operations) > operationCount/2 {
		b.WriteString("Nearly every call.\n")
		return b.String()
	}
	for _, op := range c.Operations {
		fmt.Fprintf(&b, "- [%s](../%s.md#%s): `%s %s`\n", op.Get("summary"), referenceName, op.ID(), op.Method, op.Path)
	}
	return b.String()
}

// addErrorPages adds a page for each code. pages are those of the menus.
func (b *builder) addErrorPages(pages []*page) ([]*page, error) {
	codes, _, err := b.errorCodes()
	if err != nil {
		return nil, err
	}
	parent := pages[slices.IndexFunc(pages, func(p *page) bool { return p.Name == errorsName })]
	var made []*page
	for _, code := range codes {
		p, err := b.page(code.pageName(), code.markdown(len(operationsOf(b.document.Root))))
		if err != nil {
			return nil, err
		}
		p.Parent, p.Label = parent, fmt.Sprintf("Error %d, %s", code.Status, code.Code)
		made = append(made, p)
	}
	for _, p := range made {
		if err := b.addPage(pagePath("", p.Name), view{Page: p, Pages: pages, Siblings: made}); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// errorsMarkdown is the index of all codes, with the cause and the remedy of each: `type` of an error leads there.
func (b *builder) errorsMarkdown() (string, error) {
	codes, fields, err := b.errorCodes()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(errorsIntroduction)
	byStatus := map[int][]string{}
	for _, c := range codes {
		byStatus[c.Status] = append(byStatus[c.Status], fmt.Sprintf("[`%s`](%s.md)", c.Code, c.pageName()))
	}
	for _, status := range slices.Sorted(maps.Keys(byStatus)) {
		fmt.Fprintf(&out, "| %d | %s |\n", status, strings.Join(byStatus[status], " "))
	}
	out.WriteString("\n## Codes {#codes}\n")
	for _, c := range codes {
		fmt.Fprintf(&out, "\n### %s {#%s}\n\n`%s`, status %d. [Example](%s.md)\n\n**Cause.** %s\n\n**Remedy.** %s\n",
			c.Title, c.Code, c.Code, c.Status, c.pageName(), c.Cause, c.Remedy)
	}
	out.WriteString(fieldsIntroduction)
	for i := 0; i+1 < len(fields.Content); i += 2 {
		code, text := fields.Content[i].Value, fields.Content[i+1].Value
		fmt.Fprintf(&out, "\n### %s {#field-%s}\n\n%s\n", "`"+code+"`", code, strings.TrimSpace(text))
	}
	return out.String(), nil
}

const errorsIntroduction = `# Errors

Cause and remedy of every error code of the Partner Gifting API.

An error is a problem document (` + "`application/problem+json`" + `). Branch on its ` + "`code`" + `. New codes may be added.
Existing codes do not change. If several codes of status 422 or 409 apply to a request, the first in the order of this page is
returned. Quote ` + "`instance`" + ` when you ask about an error. What a client does with them is in
[Errors and retries](errors-guide.md).

## Codes by status {#status}

| status | codes |
| --- | --- |
`

const fieldsIntroduction = `
## Field codes {#field-codes}

Each entry of ` + "`errors[]`" + ` is ` + "`{field, code, message}`" + `. All invalid fields of a request are listed together.
`
