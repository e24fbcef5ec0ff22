package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// By default, goldmark omits raw HTML. Headings get ids, which may also be written: ## Title {#id}.
var converter = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithAttribute()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodeRenderer{}, 1))))

// section is a heading with the text below it, up to the next heading.
type section struct {
	ID, Title string
	Level     int
	Text      string
}

// article is a converted Markdown text.
type article struct {
	HTML     template.HTML
	Sections []section
}

// convert makes HTML. A link to another page, such as webhooks.md#retries, leads to that page.
func (b *builder) convert(markdown string) (article, error) {
	source := []byte(markdown)
	root := converter.Parser().Parse(text.NewReader(source))
	var found article
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(b.address(string(n.Destination)))
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			raw, _ := id.([]byte)
			found.Sections = append(found.Sections, section{ID: string(raw), Title: plain(n, source), Level: n.Level})
		case *ast.Blockquote:
			markNote(n, source)
		case *ast.Paragraph, *ast.TextBlock, *ast.FencedCodeBlock:
			if last := len(found.Sections) - 1; last >= 0 {
				found.Sections[last].Text += searchText(n, source) + " "
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return article{}, err
	}
	var html bytes.Buffer
	if err := converter.Renderer().Render(&html, source, root); err != nil {
		return article{}, fmt.Errorf("markdown: %w", err)
	}
	found.HTML = template.HTML(scrollable.Replace(html.String())) //nolint:gosec // The texts are part of this program.
	return found, nil
}

// searchText is what the search has of a block. It leaves out JSON: it finds the members in the reference. Of the same code in
// several languages it has that of the first, and the names of the others.
func searchText(n ast.Node, source []byte) string {
	language := languageOf(n, source)
	switch {
	case language == "json":
		return ""
	case sameInAnotherLanguage(n.PreviousSibling(), n, source):
		return codeLanguages[language].label
	}
	return plain(n, source)
}

// scrollable lets readers without a mouse scroll what can be wider than a phone.
var scrollable = strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>")

// notes are the kinds of quotes that are notes, by their first line.
var notes = map[string]string{"[!NOTE]": "Note", "[!WARNING]": "Warning"}

// markNote gives a quote whose first line is that of a note its class and its title.
func markNote(quote *ast.Blockquote, source []byte) {
	paragraph, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok {
		return
	}
	first := paragraph.Lines().At(0)
	title, ok := notes[strings.TrimSpace(string(first.Value(source)))]
	if !ok {
		return
	}
	for ended := false; !ended && paragraph.HasChildren(); {
		n := paragraph.FirstChild()
		t, isText := n.(*ast.Text)
		ended = isText && t.SoftLineBreak()
		paragraph.RemoveChild(paragraph, n)
	}
	quote.SetAttributeString("class", []byte(strings.ToLower(title)))
	strong := ast.NewEmphasis(2)
	strong.AppendChild(strong, ast.NewString([]byte(title)))
	heading := ast.NewParagraph()
	heading.AppendChild(heading, strong)
	quote.InsertBefore(quote, paragraph, heading)
}

// address of what a link in a text leads to. The texts link to the Markdown of pages, so that their links work there too.
func (b *builder) address(destination string) string {
	link, err := url.Parse(destination)
	if err != nil || link.IsAbs() || link.Path == "" || strings.HasPrefix(link.Path, "/") {
		return destination
	}
	name, isPage := strings.CutSuffix(strings.TrimPrefix(link.Path, "../"), markdownSuffix)
	link.Path = path.Join(b.base+sitePath, link.Path)
	if isPage {
		link.Path = pagePath(b.base, name)
	}
	return link.String()
}

// plain is the text of a node without markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	if lines := n.Lines(); n.Kind() == ast.KindFencedCodeBlock {
		b.Write(lines.Value(source))
		return b.String()
	}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(util.UnescapePunctuations(t.Value(source)))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

var headingID = regexp.MustCompile(`(?m)^(#+ .*?) \{#[^}]*\}$`)

// readable is the Markdown as it is served, without the ids of headings.
func readable(markdown string) []byte { return []byte(headingID.ReplaceAllString(markdown, "$1")) }
