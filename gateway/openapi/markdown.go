package openapi

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

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
