package docs

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeLanguage is a language of code blocks. Blocks that follow each other in languages with a tab show the same in each of them.
type codeLanguage struct {
	label string
	tab   bool
}

const (
	shellLanguage = "sh"
	textLanguage  = "text"
)

// codeLanguages are the languages by the names that stand after the three backticks.
var codeLanguages = map[string]codeLanguage{
	shellLanguage: {"Shell", true},
	"shell":       {"Shell", true},
	"typescript":  {"TypeScript", true},
	"ts":          {"TypeScript", true},
	"python":      {"Python", true},
	"go":          {"Go", true},
	"php":         {"PHP", true},
	"java":        {"Java", true},
	"csharp":      {"C#", true},
	"ruby":        {"Ruby", true},
	"json":        {"JSON", false},
	"http":        {"HTTP", false},
	"yaml":        {"YAML", false},
	"xml":         {"XML", false},
	textLanguage:  {"Text", false},
}

// nodeRenderer writes what differs from what goldmark writes.
type nodeRenderer struct{}

func (nodeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, writeCode)
	r.Register(ast.KindHeading, writeHeading)
}

// writeHeading writes a heading, and beside it a link to it, whose address readers can copy. The title of a page has none.
func writeHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := n.(*ast.Heading).Level
	id, _ := n.AttributeString("id")
	before, after := "", ""
	if level > 1 {
		before = `<div class="heading">`
		after = fmt.Sprintf(`<a href="#%s" aria-label="Link to %s">#</a></div>`, id, template.HTMLEscapeString(plain(n, source)))
	}
	var err error
	if entering {
		_, err = fmt.Fprintf(w, `%s<h%d id="%s">`, before, level, id)
	} else {
		_, err = fmt.Fprintf(w, "</h%d>%s\n", level, after)
	}
	return ast.WalkContinue, err
}

// writeCode writes a code block with a caption. A script of the site makes tabs of blocks that show the same in several
// languages, and adds buttons to copy them.
func writeCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := languageOf(n, source)
	before, after := sameInAnotherLanguage(n.PreviousSibling(), n, source), sameInAnotherLanguage(n, n.NextSibling(), source)
	var b strings.Builder
	if after && !before {
		b.WriteString(`<div class="tabs">`)
	}
	kind, caption := "code", codeLanguages[language].label
	if previous := languageOf(n.PreviousSibling(), source); language == textLanguage && codeLanguages[previous].tab {
		kind, caption = "code output", "The output has"
		if previous != shellLanguage {
			caption = "The response has"
		}
	}
	b.WriteString(`<figure class="` + kind + `"><figcaption>` + caption + `</figcaption><pre tabindex="0"><code>`)
	if err := highlight(&b, language, strings.TrimRight(string(n.Lines().Value(source)), "\n")); err != nil {
		return ast.WalkStop, err
	}
	b.WriteString("</code></pre></figure>\n")
	if before && !after {
		b.WriteString("</div>\n")
	}
	_, err := w.WriteString(b.String())
	return ast.WalkSkipChildren, err
}

// languageOf is empty for what is no code block.
func languageOf(n ast.Node, source []byte) string {
	if block, ok := n.(*ast.FencedCodeBlock); ok {
		return string(block.Language(source))
	}
	return ""
}

func sameInAnotherLanguage(n, next ast.Node, source []byte) bool {
	one, other := codeLanguages[languageOf(n, source)], codeLanguages[languageOf(next, source)]
	return one.tab && other.tab && one.label != other.label
}

// highlight writes code with a class for each kind of its parts. The style sheet has a colour for each class.
func highlight(b *strings.Builder, language, code string) error {
	lexer := lexers.Get(language)
	if lexer == nil || language == textLanguage {
		b.WriteString(template.HTMLEscapeString(code))
		return nil
	}
	tokens, err := lexer.Tokenise(nil, code)
	if err != nil {
		return err
	}
	class, part := "", ""
	flush := func() {
		if class == "" {
			b.WriteString(template.HTMLEscapeString(part))
		} else {
			b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(part) + `</span>`)
		}
	}
	for token := range tokens.Stdlib() {
		if kind := tokenClass(token.Type); kind != class && strings.TrimSpace(token.Value) != "" {
			flush()
			class, part = kind, ""
		}
		part += token.Value
	}
	flush()
	return nil
}

// tokenClass has five classes, because more colours would not help a reader.
func tokenClass(kind chroma.TokenType) string {
	switch {
	case kind.InCategory(chroma.Comment):
		return "tc"
	case kind.InCategory(chroma.Keyword), kind == chroma.OperatorWord:
		return "tk"
	case kind.InSubCategory(chroma.LiteralString):
		return "ts"
	case kind.InSubCategory(chroma.LiteralNumber), kind.InSubCategory(chroma.NameVariable):
		return "tn"
	case kind.InSubCategory(chroma.NameFunction), kind == chroma.NameTag, kind == chroma.NameAttribute,
		kind.InSubCategory(chroma.NameBuiltin), kind == chroma.NameClass:
		return "tf"
	}
	return ""
}
