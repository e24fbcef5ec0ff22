package openapi

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"time"
)

// changesPage shows every entry, the newest first.
func changesPage(changes Changes) ([]byte, error) {
	page := struct {
		Title   string
		Menu    []menu
		Changes Changes
	}{Title: "Change log of the Partner Gifting API", Changes: changes}
	entries := menu{Title: "Changes"}
	for _, c := range changes {
		entries.Links = append(entries.Links, link{"#" + c.ID, c.Title})
	}
	page.Menu = []menu{
		{Title: "Reference", Links: []link{{"../docs", "Partner Gifting API"}, {"errors", "Error codes"}, {"changelog.atom", "Atom feed"}}},
		entries,
	}
	return render("changelog", page)
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
func changesFeed(changes Changes, address string) ([]byte, error) {
	feed := atomFeed{ID: address, Title: "Changes of the Partner Gifting API", Author: "Partner Gifting", Links: []atomLink{
		{Rel: "self", Type: "application/atom+xml", Href: address + ".atom"}, {Rel: "alternate", Type: "text/html", Href: address},
	}}
	for i, c := range changes {
		var html bytes.Buffer
		if err := pages.ExecuteTemplate(&html, "change", c); err != nil {
			return nil, fmt.Errorf("entry %s: %w", c.ID, err)
		}
		updated, entry := c.Date.Format(time.RFC3339), address+"#"+c.ID
		if i == 0 {
			feed.Updated = updated
		}
		feed.Entries = append(feed.Entries, atomEntry{
			ID: entry, Title: c.Title, Updated: updated, Category: atomCategory{c.Kind},
			Link: atomLink{Rel: "alternate", Type: "text/html", Href: entry}, Content: atomContent{Type: "html", HTML: html.String()},
		})
	}
	written, err := xml.MarshalIndent(feed, "", "  ")
	return append([]byte(xml.Header), written...), err
}
