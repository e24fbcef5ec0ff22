package giftsite

import (
	"bytes"
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
	// policySize is more than the policy and the elements that a document adds to its page.
	policySize = 1 << 10
)

// document is a page that becomes one file.
type document struct {
	root *html.Node
	// style is all of its style, with the fonts inside.
	style string
	// room is how many bytes are left for pictures.
	room int
}

// newDocument reads a page.
func newDocument(page []byte, device tenantsv1.ColourScheme) (*document, error) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("page of a preview: %w", err)
	}
	d := &document{root: root}
	// Links have no address and are underlined all the same.
	d.style = "a{text-decoration:underline}\n" + string(styleSheet)
	for n := range root.Descendants() {
		if n.DataAtom == atom.Style && n.FirstChild != nil {
			d.style += "\n" + withFonts(onDevice(n.FirstChild.Data, device))
		}
	}
	plain, err := d.render()
	// The document has less than the page: no addresses and no script.
	d.room = MaxPreview - len(plain) - len(d.style) - policySize
	return d, err
}

func (d *document) render() ([]byte, error) {
	var b bytes.Buffer
	if err := html.Render(&b, d.root); err != nil {
		return nil, fmt.Errorf("document of a preview: %w", err)
	}
	return b.Bytes(), nil
}

// onDevice lets the style of a theme look as on the device, whatever shows it.
func onDevice(style string, device tenantsv1.ColourScheme) string {
	switch device {
	case tenantsv1.ColourScheme_COLOUR_SCHEME_DARK:
		return strings.ReplaceAll(style, onDarkDevice, "screen")
	case tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT:
		return strings.ReplaceAll(style, onDarkDevice, "not all")
	default:
		return style
	}
}

// withFonts puts the fonts that a style declares inside it. They are there at once, so the text may wait for them.
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

// embed reads the pictures of the page, in its order, while there is room. It returns data URLs by the source of a picture.
func (d *document) embed(
	ctx context.Context, read func(ctx context.Context, address string, limit int) (string, error),
) (map[string]string, error) {
	embedded, copies := map[string]string{}, map[string]int{}
	pictures := d.pictures()
	for _, n := range pictures {
		copies[attribute(n, "src")]++
	}
	for _, n := range pictures {
		source := attribute(n, "src")
		if _, done := embedded[source]; done {
			continue
		}
		embedded[source] = ""
		for _, address := range versions(n) {
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
		if n.DataAtom == atom.Img {
			all = append(all, n)
		}
	}
	return all
}

// The widths in which pictures are embedded if they have them: sharp on a phone, and small.
const (
	widthOfHero    = 1280
	widthOfPicture = 640
)

// versions are the addresses of a picture, the most suitable first: the smallest that is wide enough, then narrower ones. The
// original may be large, so it is used only if there is no other.
func versions(n *html.Node) []string {
	wanted := widthOfPicture
	if attribute(n, "class") == "hero" {
		wanted = widthOfHero
	}
	type version struct {
		address string
		width   int
	}
	var all []version
	for entry := range strings.SplitSeq(attribute(n, "srcset"), ", ") {
		address, width, _ := strings.Cut(entry, " ")
		if pixels, err := strconv.Atoi(strings.TrimSuffix(width, "w")); err == nil {
			all = append(all, version{address, pixels})
		}
	}
	slices.SortFunc(all, func(a, b version) int { return b.width - a.width })
	for len(all) > 1 && all[1].width >= wanted {
		all = all[1:]
	}
	if len(all) == 0 {
		return []string{attribute(n, "src")}
	}
	addresses := make([]string, len(all))
	for i, v := range all {
		addresses[i] = v.address
	}
	return addresses
}

// keepEmbedded removes all other pictures from the link, so that the page is rendered as without them.
func keepEmbedded(link *linksv1.GetClaimPageResponse, embedded map[string]string) {
	if brand := link.GetBrand(); brand != nil {
		brand.Hero = embeddedOf(brand.GetHero(), embedded)
		if embedded[brand.GetLogoUrl()] == "" {
			brand.LogoUrl = nil
		}
	}
	for _, g := range link.GetGifts() {
		g.Images = embeddedOf(g.GetImages(), embedded)
	}
}

// embeddedOf keeps the pictures whose source is embedded. Each has its renditions and then the original.
func embeddedOf(images []*linksv1.ClaimImage, embedded map[string]string) (kept []*linksv1.ClaimImage) {
	first := 0
	for i, image := range images {
		if image.Width != nil && i < len(images)-1 {
			continue
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
			d.complete(n)
		case atom.Form:
			n.Data, n.DataAtom = "div", atom.Div
		case atom.Script, atom.Style, atom.Noscript:
			n.Parent.RemoveChild(n)
		case atom.A:
			if attribute(n, "class") == "skip" { // Without an address it would be a stray text for screen readers.
				n.Parent.RemoveChild(n)
			}
		case atom.Link:
			if attribute(n, "rel") != "icon" { // The icon is inside the page.
				n.Parent.RemoveChild(n)
			}
		case atom.Img:
			n.Attr = append(n.Attr, html.Attribute{Key: "src", Val: embedded[attribute(n, "src")]})
		default:
		}
		n.Attr = slices.DeleteFunc(n.Attr, isReference)
	}
	return d.render()
}

// complete adds the policy and the style to the head.
func (d *document) complete(head *html.Node) {
	policy := "default-src 'none'; style-src " + hashOf(d.style) +
		"; img-src data:; font-src data:; form-action 'none'; base-uri 'none'"
	head.InsertBefore(&html.Node{Type: html.ElementNode, Data: "meta", DataAtom: atom.Meta, Attr: []html.Attribute{
		{Key: "http-equiv", Val: "Content-Security-Policy"}, {Key: "content", Val: policy},
	}}, head.FirstChild)
	style := &html.Node{Type: html.ElementNode, Data: "style", DataAtom: atom.Style}
	style.AppendChild(&html.Node{Type: html.TextNode, Data: d.style})
	head.AppendChild(style)
}

// references are attributes whose values are addresses, and those that only make sense with them.
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
