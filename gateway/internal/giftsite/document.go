package giftsite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// MaxPreview bounds a document in bytes. Clients of gRPC accept messages of 4 MiB.
	MaxPreview = 3 << 20
	// maxPolicy bounds what addPolicyAndStyle adds to a page besides the style, in bytes.
	maxPolicy = 1 << 10
)

// document is a page that is being made into a single file.
type document struct {
	root *html.Node
	// css is the style sheet and the page's own styles, with the fonts embedded.
	css string
	// room is how many bytes are left for pictures.
	room int
}

// newDocument parses a page.
func newDocument(page []byte, device tenantsv1.ColourScheme) (*document, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("page of a preview: %w", err)
	}
	d := &document{root: root}
	// The links of a document lose their addresses, and browsers underline only links that have one.
	d.css = "a{text-decoration:underline}\n" + string(styleSheet)
	for n := range root.Descendants() {
		if n.DataAtom == atom.Style && n.FirstChild != nil {
			d.css += "\n" + withFonts(withScheme(n.FirstChild.Data, device))
		}
		for i, a := range n.Attr {
			if n.DataAtom == atom.Source && a.Key == "media" {
				n.Attr[i].Val = withScheme(a.Val, device)
			}
		}
	}
	plain, err := d.render()
	// The rest of the document is smaller than the page, because it has no addresses and no script.
	d.room = MaxPreview - len(plain) - len(d.css) - maxPolicy
	return d, err
}

func (d *document) render() ([]byte, error) {
	var b bytes.Buffer
	if err := html.Render(&b, d.root); err != nil {
		return nil, fmt.Errorf("document of a preview: %w", err)
	}
	return b.Bytes(), nil
}

// withScheme replaces the condition of the dark colours by what the player's device prefers, so that the preview does not depend on
// the device that shows it.
func withScheme(style string, device tenantsv1.ColourScheme) string {
	switch device {
	case tenantsv1.ColourScheme_COLOUR_SCHEME_DARK:
		return strings.ReplaceAll(style, prefersDark, "screen")
	case tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT:
		return strings.ReplaceAll(style, prefersDark, "not all")
	default:
		return style
	}
}

// withFonts embeds the fonts that a style declares. Embedded fonts need no download, so the text is shown only when they are ready.
func withFonts(style string) string {
	for _, f := range fonts {
		for address, content := range f.files {
			if strings.Contains(style, address) {
				style = strings.ReplaceAll(style, "url("+address+")",
					"url(data:font/woff2;base64,"+base64.StdEncoding.EncodeToString(content)+")")
			}
		}
	}
	return strings.ReplaceAll(style, "font-display:optional", "font-display:block")
}

// embed reads the pictures in the order of the page while there is room. It returns a data URL for the source of each picture,
// empty if the picture does not fit or does not exist.
func (d *document) embed(
	ctx context.Context, read func(ctx context.Context, address string, limit int) (string, error),
) (map[string]string, error) {
	embedded, copies := map[string]string{}, map[string]int{}
	pictures := d.pictures()
	for _, n := range pictures {
		copies[sourceOf(n)]++
	}
	for _, n := range pictures {
		source := sourceOf(n)
		if _, done := embedded[source]; done {
			continue
		}
		embedded[source] = ""
		for _, address := range renditionURLs(n) {
			content, err := read(ctx, address, d.room/copies[source])
			if err != nil {
				return nil, err
			}
			if content != "" {
				embedded[source] = content
				d.room -= len(content) * copies[source]
				break
			}
		}
	}
	return embedded, nil
}

func (d *document) pictures() (all []*html.Node) {
	for n := range d.root.Descendants() {
		if n.DataAtom == atom.Img || n.DataAtom == atom.Source {
			all = append(all, n)
		}
	}
	return all
}

// sourceOf is the address of a picture. That of a <source> is its only one.
func sourceOf(n *html.Node) string { return cmp.Or(attribute(n, "src"), attribute(n, "srcset")) }

// The preferred widths of embedded pictures: sharp on a phone, but small.
const (
	heroWidth    = 1280
	pictureWidth = 640
)

// renditionURLs returns the addresses of a picture's renditions, the most suitable first: the smallest that is wide enough, then
// narrower ones. The original may be large, so it is used only if there are no renditions.
func renditionURLs(n *html.Node) []string {
	preferred := pictureWidth
	if attribute(n, "class") == "hero" {
		preferred = heroWidth
	}
	type rendition struct {
		address string
		width   int
	}
	var all []rendition
	for entry := range strings.SplitSeq(attribute(n, "srcset"), ", ") {
		address, width, _ := strings.Cut(entry, " ")
		if pixels, err := strconv.Atoi(strings.TrimSuffix(width, "w")); err == nil {
			all = append(all, rendition{address, pixels})
		}
	}
	slices.SortFunc(all, func(a, b rendition) int { return b.width - a.width })
	for len(all) > 1 && all[1].width >= preferred {
		all = all[1:]
	}
	if len(all) == 0 {
		return []string{sourceOf(n)}
	}
	addresses := make([]string, len(all))
	for i, r := range all {
		addresses[i] = r.address
	}
	return addresses
}

// keepEmbedded removes all other pictures from the link, so that the page is rendered as if they did not exist.
func (s *Site) keepEmbedded(link *linksv1.GetClaimPageResponse, embedded map[string]string) {
	if brand := link.GetBrand(); brand != nil {
		if theme := brand.GetSite().GetTheme(); theme != nil {
			theme.DarkLogoImageId = s.embeddedID(theme.DarkLogoImageId, embedded)
		}
		if from := brand.GetSite().GetSender(); from != nil {
			from.PortraitImageId = s.embeddedID(from.PortraitImageId, embedded)
			from.SignatureImageId = s.embeddedID(from.SignatureImageId, embedded)
		}
		brand.Hero = embeddedOf(brand.GetHero(), embedded)
		if embedded[brand.GetLogoUrl()] == "" {
			brand.LogoUrl = nil
		}
	}
	for _, g := range link.GetGifts() {
		g.Images = embeddedOf(g.GetImages(), embedded)
	}
}

// embeddedID is the id of a picture that is embedded, nil for another one.
func (s *Site) embeddedID(id *string, embedded map[string]string) *string {
	if id == nil || embedded[s.imageOf(*id)] == "" {
		return nil
	}
	return id
}

// embeddedOf keeps the pictures that are embedded. images lists the renditions of each picture, followed by its original.
func embeddedOf(images []*linksv1.ClaimImage, embedded map[string]string) (kept []*linksv1.ClaimImage) {
	first := 0
	for i, image := range images {
		if image.Width != nil && i < len(images)-1 {
			continue // A rendition. The original, which has no width, ends the picture.
		}
		picture := images[first : i+1]
		first = i + 1
		if slices.ContainsFunc(picture, func(image *linksv1.ClaimImage) bool { return embedded[image.GetUrl()] != "" }) {
			kept = append(kept, picture...)
		}
	}
	return kept
}

// selfContained replaces what the page loads by its content, and removes what leads elsewhere: scripts, forms and addresses.
func (d *document) selfContained(embedded map[string]string) ([]byte, error) {
	for _, n := range slices.Collect(d.root.Descendants()) {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Head:
			d.addPolicyAndStyle(n)
		case atom.Form:
			n.Data, n.DataAtom = "div", atom.Div
		case atom.Script, atom.Style, atom.Noscript:
			n.Parent.RemoveChild(n)
		case atom.A:
			// Without an address the one would be a stray text for screen readers, and the other could not be opened.
			if class := attribute(n, "class"); class == "skip" || class == "paper" {
				n.Parent.RemoveChild(n)
			}
		case atom.Link:
			if attribute(n, "rel") != "icon" { // The icon is a data URL.
				n.Parent.RemoveChild(n)
			}
		case atom.Img:
			// The first src is removed below, and so is this one if it is empty.
			n.Attr = append(n.Attr, html.Attribute{Key: "src", Val: embedded[sourceOf(n)]})
		case atom.Source:
			n.Attr = append(n.Attr, html.Attribute{Key: "srcset", Val: embedded[sourceOf(n)]})
		default:
		}
		n.Attr = slices.DeleteFunc(n.Attr, isReference)
	}
	return d.render()
}

// addPolicyAndStyle adds the Content-Security-Policy and the style to the head.
func (d *document) addPolicyAndStyle(head *html.Node) {
	policy := "default-src 'none'; style-src " + hashOf(d.css) +
		"; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"
	head.InsertBefore(&html.Node{Type: html.ElementNode, Data: "meta", DataAtom: atom.Meta, Attr: []html.Attribute{
		{Key: "http-equiv", Val: "Content-Security-Policy"}, {Key: "content", Val: policy},
	}}, head.FirstChild)
	style := &html.Node{Type: html.ElementNode, Data: "style", DataAtom: atom.Style}
	style.AppendChild(&html.Node{Type: html.TextNode, Data: d.css})
	head.AppendChild(style)
}

// references are attributes whose values are addresses, and those that make sense only together with such attributes.
var references = []string{
	"action", "autofocus", "fetchpriority", "formaction", "href", "imagesrcset", "loading", "method", "novalidate", "sizes", "src",
	"srcset",
}

// isReference reports whether an attribute leads out of the document.
func isReference(a html.Attribute) bool {
	return slices.Contains(references, a.Key) && !strings.HasPrefix(a.Val, "data:")
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
