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
func (b *builder) addForPrograms(pages []*page) error {
	var index []searchEntry
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
		if p.Name == referenceName {
			continue
		}
		for _, s := range p.Sections {
			index = append(index, searchEntry{
				Title: s.Title, Page: p.Title, Href: pagePath(b.base, p.Name) + "#" + s.ID, Text: strings.Join(strings.Fields(s.Text), " "),
			})
		}
	}
	fmt.Fprintf(list, "- [OpenAPI document](%s%s.yaml): the whole API for generators of clients\n", b.document.PublicURL, documentPath)
	fmt.Fprintf(list, "- [Postman collection](%s%s): every call with an example\n", b.document.PublicURL, postmanPath)
	fmt.Fprintf(list, "- [AsyncAPI document](%s%s): the webhooks\n", b.document.PublicURL, asyncapiPath)
	b.addFile(sitePath+"/llms.txt", staticfile.New(textType, staticfile.Revalidate, []byte(list.String())).ForAnyOrigin())
	for _, op := range operationsOf(b.document.Root) {
		href := pagePath(b.base, referenceName) + b.anchors[op.ID()]
		index = append(index, searchEntry{op.Get("summary").String(), "API reference", href, op.Method + " " + op.Path})
	}
	written, err := json.Marshal(index)
	b.addFile(sitePath+"/search.json", staticfile.New(jsonType, staticfile.Revalidate, written))
	return err
}

// referenceAnchor is where Scalar shows an operation.
func referenceAnchor(op operation) string {
	tag := op.Get("tags").All()[0].String()
	return "#tag/" + strings.ReplaceAll(strings.ToLower(tag), " ", "-") + "/" + op.Method + op.Path
}
