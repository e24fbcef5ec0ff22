package docs

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
)

const (
	changelogName = "changelog"
	atomPath      = sitePath + "/changelog.atom"
)

// changelog shows every entry, the newest first, and adds the Atom feed of them.
func (b *builder) changelog() (string, error) {
	feed, err := b.changesFeed(b.document.PublicURL + pagePath("", changelogName))
	if err != nil {
		return "", err
	}
	b.addFile(atomPath, staticfile.New("application/atom+xml; charset=utf-8", staticfile.Revalidate, feed))
	var out strings.Builder
	fmt.Fprintf(&out, "# Change log\n\nWhat changed in the Partner Gifting API, the newest first.\n\n"+
		"Also as an [Atom feed](%s). What we change, and how we\nannounce it, is in [Versioning](versioning.md).\n", b.base+atomPath)
	for _, c := range b.document.Changes {
		fmt.Fprintf(&out, "\n## %s {#%s}\n\n%s, %s\n\n%s", escape.Replace(c.Title), c.ID, c.Date.Format(day), c.Kind, entry(&c))
	}
	return out.String(), nil
}

// escape keeps a title from being read as HTML.
var escape = strings.NewReplacer("<", `\<`)

const day = "2 January 2006"

// entry is the text of a change. A deprecation says what it affects and until when that works.
func entry(c *openapi.Change) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(c.Text) + "\n")
	if len(c.Affects) > 0 {
		affected := make([]string, len(c.Affects))
		for i, t := range c.Affects {
			affected[i] = "`" + t.String() + "`"
		}
		fmt.Fprintf(&b, "\n- Affected: %s.\n- Instead: %s\n- Works until %s at least.\n",
			strings.Join(affected, ", "), strings.TrimSpace(c.Replacement), c.Sunset.Format(day))
	}
	return b.String()
}

// atomFeed is a feed of RFC 4287.
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID       string       `xml:"id"`
	Title    string       `xml:"title"`
	Updated  string       `xml:"updated"`
	Category atomCategory `xml:"category"`
	Link     atomLink     `xml:"link"`
	Content  atomContent  `xml:"content"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomContent struct {
	Type string `xml:"type,attr"`
	HTML string `xml:",chardata"`
}

// changesFeed has the entries of the page. address is the page; the addresses of entries are their ids and never change.
func (b *builder) changesFeed(address string) ([]byte, error) {
	feed := atomFeed{ID: address, Title: "Changes of the Partner Gifting API", Author: "Partner Gifting", Links: []atomLink{
		{Rel: "self", Type: "application/atom+xml", Href: address + ".atom"}, {Rel: "alternate", Type: "text/html", Href: address},
	}}
	for i, c := range b.document.Changes {
		content, err := b.convert(entry(&c))
		if err != nil {
			return nil, fmt.Errorf("entry %s: %w", c.ID, err)
		}
		updated, id := c.Date.Format(time.RFC3339), address+"#"+c.ID
		if i == 0 {
			feed.Updated = updated
		}
		feed.Entries = append(feed.Entries, atomEntry{
			ID: id, Title: c.Title, Updated: updated, Category: atomCategory{c.Kind},
			Link: atomLink{Rel: "alternate", Type: "text/html", Href: id}, Content: atomContent{Type: "html", HTML: string(content.HTML)},
		})
	}
	written, err := xml.MarshalIndent(feed, "", "  ")
	return append([]byte(xml.Header), written...), err
}
