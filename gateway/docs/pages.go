package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/pkg/apikey"
)

const (
	markdownSuffix = ".md"
	// home is the name of the first page, which is at the path of the site itself.
	home = "index"
	// exampleURL stands in the guides for the public URL.
	exampleURL = "https://api.example.com/api/public/v1"
)

// page is a page of the site.
type page struct {
	// Name is the last part of its path.
	Name, Title, Summary string
	Group                string
	// Parent is the page that lists this one, if the menus do not have it. Label is what the search calls this one.
	Parent *page
	Label  string
	article
	Markdown string
	// Edited is the day of the last change of a guide, such as 2026-11-29. Other pages are made from the contract and have none.
	Edited string
}

// groups are the parts of the navigation, with the names of their pages.
var groups = []struct {
	Title string
	Names []string
}{
	{"Start", []string{home, "quickstart", "authentication"}},
	{"Guides", []string{
		"orders", "webhooks", "events", "idempotency", "errors-guide", "limits", "personal-links", "sandbox", "sdks", "operations",
		"generators", "network", "data-protection", "going-live", "versioning",
	}},
	{"Reference", []string{referenceName, errorsName, changelogName}},
}

//go:embed guides/*.md
var guides embed.FS

//go:embed pages/*.tmpl
var templates embed.FS

var layout = template.Must(template.ParseFS(templates, "pages/*.tmpl"))

// pagePath is where a page is.
func pagePath(base, name string) string {
	if name == home {
		return base + sitePath
	}
	return base + sitePath + "/" + name
}

// addPages adds every page as HTML and as Markdown.
func (b *builder) addPages() error {
	var pages []*page
	for _, group := range groups {
		for _, name := range group.Names {
			markdown, err := b.markdown(name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			p, err := b.page(name, markdown)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			p.Group, p.Edited = group.Title, editedOn(name)
			pages = append(pages, p)
		}
	}
	for _, p := range pages {
		if err := b.addPage(pagePath("", p.Name), view{Page: p, Pages: pages, Siblings: pages}); err != nil {
			return err
		}
	}
	errorPages, err := b.addErrorPages(pages)
	if err != nil {
		return err
	}
	if err := b.makeNotFound(pages); err != nil {
		return err
	}
	return b.addForPrograms(pages, errorPages)
}

// addPage adds the page of a view as HTML at the path, and as Markdown.
func (b *builder) addPage(path string, v view) error {
	b.addFile(sitePath+"/"+v.Page.Name+markdownSuffix,
		staticfile.New(markdownType, staticfile.Revalidate, readable(v.Page.Markdown)).ForAnyOrigin())
	html, err := b.render("page", v)
	b.addFile(path, staticfile.New(htmlType, staticfile.Revalidate, html))
	return err
}

// notFoundText is the text of the page for addresses at which there is none.
const notFoundText = `# There is no such page

The address has nothing. Search for what you need, or begin here:

- [Overview](index.md)
- [Quickstart](quickstart.md)
- [API reference](reference.md)
- [Errors](errors.md)
`

// makeNotFound makes a page without Markdown beside it.
func (b *builder) makeNotFound(pages []*page) error {
	p, err := b.page("missing", notFoundText)
	if err != nil {
		return err
	}
	p.Markdown = ""
	html, err := b.render("page", view{Page: p, Pages: pages})
	b.notFound = staticfile.New(htmlType, staticfile.Revalidate, html)
	return err
}

// markdown is the text of a page. Those of the reference are made.
func (b *builder) markdown(name string) (string, error) {
	switch name {
	case errorsName:
		return b.errorsMarkdown()
	case changelogName:
		return b.changelog()
	case referenceName:
		return b.referenceMarkdown()
	}
	raw, err := guides.ReadFile("guides/" + name + markdownSuffix)
	if err != nil {
		return "", err
	}
	text, err := b.fill(name, b.addSamples(string(raw)))
	return comment.ReplaceAllString(text, ""), err
}

// comment is a note for the test that runs the commands of a guide.
var comment = regexp.MustCompile(`(?m)^<!--.*-->\n`)

// edited is the last line of a guide. A change of what the guide says changes the day.
var edited = regexp.MustCompile(`\n<!-- edited: (\d{4}-\d\d-\d\d) -->\n$`)

// editedOn is the day of the last change of a guide, empty for another page.
func editedOn(name string) string {
	raw, _ := guides.ReadFile("guides/" + name + markdownSuffix)
	if found := edited.FindSubmatch(raw); found != nil {
		return string(found[1])
	}
	return ""
}

// page reads the title and the summary from the text, which begins with both.
func (b *builder) page(name, markdown string) (*page, error) {
	converted, err := b.convert(markdown)
	if err != nil {
		return nil, err
	}
	title, rest, _ := strings.Cut(markdown, "\n")
	summary, _, _ := strings.Cut(strings.TrimSpace(rest), "\n\n")
	return &page{
		Name: name, Title: strings.TrimPrefix(title, "# "), Summary: strings.Join(strings.Fields(summary), " "),
		article: converted, Markdown: markdown,
	}, nil
}

// view is what the templates show.
type view struct {
	Page  *page
	Pages []*page
	// Siblings are the page and those before and after it.
	Siblings []*page
	Base     string
	// Sandbox is set in the sandbox, which has a console and a page that sends requests.
	Sandbox bool
	Nonce   string
}

// Renderer is the path of the file of Scalar.
func (view) Renderer() string { return rendererPath }

func (b *builder) render(name string, v view) ([]byte, error) {
	v.Base, v.Sandbox = b.base, b.document.Environment == apikey.Sandbox
	var out bytes.Buffer
	err := layout.ExecuteTemplate(&out, name, v)
	return out.Bytes(), err
}

// link to a page.
type link struct {
	Href, Title string
	// Current is the value of aria-current, if there is one.
	Current  string
	Sections []section
}

func (v view) link(p *page) link {
	l := link{Href: pagePath(v.Base, p.Name), Title: p.Title}
	if p.Name == home {
		l.Title = "Overview"
	}
	return l
}

// Menu returns the links of a group. The page that is shown has its sections.
func (v view) Menu(group string) (links []link) {
	for _, p := range v.Pages {
		if p.Group != group {
			continue
		}
		l := v.link(p)
		switch p {
		case v.Page:
			l.Current = "page"
			l.Sections = slices.DeleteFunc(v.Sections(), func(s section) bool { return s.Level > 2 })
		case v.Page.Parent:
			l.Current = yes
		}
		links = append(links, l)
	}
	return links
}

// Sections are those that the table of contents of the page has. That of the reference has each operation.
func (v view) Sections() (found []section) {
	for _, s := range v.Page.Sections {
		operation := v.Page.Name == referenceName && s.Level == 3 && !strings.HasPrefix(s.ID, "schema-")
		if s.Level == 2 || operation {
			found = append(found, s)
		}
	}
	return found
}

// Path is what is above the page: links, and its group, which has no page.
func (v view) Path() []link {
	site, p := link{Href: pagePath(v.Base, home), Title: "Documentation"}, v.Page
	switch {
	case p.Name == home:
		return nil
	case p.Parent != nil:
		return []link{site, {Title: p.Parent.Group}, v.link(p.Parent)}
	case p.Group != "":
		return []link{site, {Title: p.Group}}
	}
	return []link{site}
}

// Neighbours are the pages before and after the page, if there are such.
func (v view) Neighbours() (found struct{ Previous, Next *link }) {
	i := slices.Index(v.Siblings, v.Page)
	if i > 0 {
		previous := v.link(v.Siblings[i-1])
		found.Previous = &previous
	}
	if i >= 0 && i+1 < len(v.Siblings) {
		next := v.link(v.Siblings[i+1])
		found.Next = &next
	}
	return found
}

// Description is the summary without markup.
func (v view) Description() string { return strings.ReplaceAll(v.Page.Summary, "`", "") }

// Groups are the titles of the menus.
func (v view) Groups() (titles []string) {
	for _, g := range groups {
		titles = append(titles, g.Title)
	}
	return titles
}
