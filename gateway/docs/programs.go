package docs

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
)

// searchEntry is an entry of the index that the search of the site reads.
type searchEntry struct {
	Title string `json:"title"`
	Page  string `json:"page"`
	Href  string `json:"href"`
	Text  string `json:"text"`
}

// addForPrograms adds the index for the search, and the list of pages for language models (llmstxt.org).
func (b *builder) addForPrograms(pages, errorPages []*page) error {
	if err := b.addSearchIndex(pages, errorPages); err != nil {
		return err
	}
	list := &strings.Builder{}
	fmt.Fprintf(list, "# Partner Gifting API\n\n> %s\n\nEvery page is Markdown. Base address of the API: %s\n",
		b.document.Root.Get("info", "summary"), b.document.PublicURL)
	group := ""
	for _, p := range pages {
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(list, "\n## %s\n\n", group)
		}
		fmt.Fprintf(list, "- [%s](%s%s/%s%s): %s\n", p.Title, b.document.PublicURL, sitePath, p.Name, markdownSuffix, p.Summary)
	}
	fmt.Fprintf(list, "- [OpenAPI document](%s%s.yaml): the whole API for generators of clients\n", b.document.PublicURL, documentPath)
	fmt.Fprintf(list, "- [Postman collection](%s%s): every call with an example\n", b.document.PublicURL, postmanPath)
	fmt.Fprintf(list, "- [AsyncAPI document](%s%s): the webhooks\n", b.document.PublicURL, asyncapiPath)
	list.WriteString("\n## Optional\n\n")
	for _, p := range errorPages {
		fmt.Fprintf(list, "- [%s](%s%s/%s%s): %s\n", p.Label, b.document.PublicURL, sitePath, p.Name, markdownSuffix, p.Summary)
	}
	b.addFile(sitePath+llmsText, staticfile.New(textType, staticfile.Revalidate, []byte(list.String())).ForAnyOrigin())
	return nil
}

// addSearchIndex adds the index for the search: sections of pages, errors and operations.
func (b *builder) addSearchIndex(pages, errorPages []*page) error {
	var index []searchEntry
	hasPage := map[string]bool{}
	for _, p := range errorPages {
		hasPage[p.Name] = true
		text := p.Sections[0].Text + p.Sections[1].Text // The cause and the remedy.
		index = append(index, searchEntry{p.Title, p.Label, pagePath(b.base, p.Name), strings.Join(strings.Fields(text), " ")})
	}
	for _, p := range pages {
		for _, s := range p.Sections {
			if p.Name == referenceName || hasPage[p.Name+"/"+s.ID] {
				continue
			}
			href := pagePath(b.base, p.Name)
			if s.Level > 1 {
				href += "#" + s.ID
			}
			index = append(index, searchEntry{s.Title, p.Title, href, strings.Join(strings.Fields(s.Text), " ")})
		}
	}
	for _, op := range operationsOf(b.document.Root) {
		href := pagePath(b.base, referenceName) + "#" + op.ID()
		about, _, _ := strings.Cut(op.Get("description").String(), "\n\n")
		converted, err := b.convert(fmt.Sprintf("# %s\n\n%s %s %s", op.Get("summary"), op.Method, op.Path, about))
		if err != nil {
			return err
		}
		s := converted.Sections[0]
		index = append(index, searchEntry{s.Title, "API reference", href, strings.Join(strings.Fields(s.Text), " ")})
	}
	written, err := json.Marshal(index)
	b.addFile(sitePath+"/search.json", staticfile.New(jsonType, staticfile.Revalidate, written))
	return err
}
