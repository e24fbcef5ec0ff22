package giftsite

import (
	"fmt"
	"hash/crc32"
	"net/url"
	"strings"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// motifs are the patterns of wrapping paper, as the content of an SVG tile of 48 × 48 that repeats without a seam. T is the tone
// of the paper and R the colour of the ribbon.
var motifs = []string{
	// Regency stripes.
	`<path fill="T" d="M4 0h12v48H4zM28 0h12v48H28z"/><path fill="R" d="M21 0h2v48h-2zM45 0h2v48h-2z"/>`,
	// A lattice with diamonds.
	`<path fill="none" stroke="T" stroke-width="2" d="M0 24 24 0l24 24-24 24z"/>` +
		`<path fill="R" d="m24-4 4 4-4 4-4-4zm0 48 4 4-4 4-4-4zM0 20l4 4-4 4-4-4zm48 0 4 4-4 4-4-4z"/>`,
	// Circles that overlap to petals.
	`<g fill="none" stroke="T" stroke-width="2"><circle r="24"/><circle cx="48" r="24"/><circle cy="48" r="24"/>` +
		`<circle cx="48" cy="48" r="24"/><circle cx="24" cy="24" r="24"/></g><circle cx="24" cy="24" r="2.5" fill="R"/>`,
	// Waves.
	`<g fill="none" stroke-width="2"><path stroke="T" d="M0 8q12-12 24 0t24 0M0 32q12-12 24 0t24 0"/>` +
		`<path stroke="R" d="M0-4q12-12 24 0t24 0M0 20q12-12 24 0t24 0M0 44q12-12 24 0t24 0"/></g>`,
	// Pin dots.
	`<g fill="T"><circle cx="12" cy="12" r="5"/><circle cx="36" cy="36" r="5"/></g>` +
		`<g fill="R"><circle cx="36" cy="12" r="2"/><circle cx="12" cy="36" r="2"/></g>`,
	// Chevrons.
	`<g fill="none" stroke-width="3"><path stroke="T" d="m-1 11 13-12 12 12L36-1l13 12M-1 35l13-12 12 12 12-12 13 12"/>` +
		`<path stroke="T" d="m-1 59 13-12 12 12 12-12 13 12"/>` +
		`<path stroke="R" stroke-width="1.5" d="m-1 23 13-12 12 12 12-12 13 12M-1 47l13-12 12 12 12-12 13 12"/></g>`,
	// Harlequin.
	`<path fill="T" d="m12 0 12 24-12 24L0 24zm24 0 12 24-12 24-12-24z"/>` +
		`<path stroke="R" d="m0 0 24 48M24 0l24 48M24 0 0 48M48 0 24 48"/>`,
	// Stars with four points.
	`<path fill="T" d="M12 1q2 9 11 11-9 2-11 11-2-9-11-11 9-2 11-11zm24 24q2 9 11 11-9 2-11 11-2-9-11-11 9-2 11-11z"/>` +
		`<g fill="R"><circle cx="36" cy="12" r="2"/><circle cx="12" cy="36" r="2"/></g>`,
	// Diagonal stripes.
	`<path stroke="T" stroke-width="10" d="M-6 6 6-6M-6 54 54-6M42 54 54 42"/>` +
		`<path stroke="R" stroke-width="1.5" d="M-6 30 30-6M18 54 54 18"/>`,
	// Checks.
	`<g fill="T"><path opacity=".6" d="M0 0h24v48H0z"/><path opacity=".6" d="M0 0h48v24H0z"/></g>` +
		`<path fill="R" d="M35 0h2v48h-2zM0 35h48v2H0z"/>`,
}

const (
	// motifTone is how much of the paper's colour is left in its tone, motifRibbon in the parts with the colour of the ribbon.
	motifTone, motifRibbon = 0.87, 0.6
	// distinguishable is the difference from which on a ribbon is seen on its paper.
	distinguishable = 0.1
)

// lookOf is a number that is always the same for a brand with this name and these colours. It chooses one of a few patterns, so two
// brands can have the same one.
func lookOf(brand *linksv1.ClaimBrand) int {
	colours := brand.GetPrimaryColour() + brand.GetSite().GetTheme().GetAccentColour()
	return int(crc32.ChecksumIEEE([]byte(strings.ToLower(colours) + brand.GetName())))
}

// ribbonOn returns the colour of the ribbon, which is the same on the light and the dark paper of a brand: the accent if it is seen
// on both, else nearly white or nearly black.
func ribbonOn(lightPaper, darkPaper, accent rgb) rgb {
	if min(difference(accent, lightPaper), difference(accent, darkPaper)) >= distinguishable {
		return accent
	}
	ribbon := white
	if min(contrast(dark, lightPaper), contrast(dark, darkPaper)) > min(contrast(white, lightPaper), contrast(white, darkPaper)) {
		ribbon = dark
	}
	return ribbon.mixedInto(lightPaper, motifTone)
}

// pattern is the wrapping paper as an image of CSS. The look chooses the motif and its size.
func (p palette) pattern(look int) string {
	motif := motifs[look%len(motifs)]
	size := 32 + look/len(motifs)%3*12
	colours := strings.NewReplacer(`"T"`, `"`+p.OnPanel.mixedInto(p.Panel, 1-motifTone).String()+`"`,
		`"R"`, `"`+p.Ribbon.mixedInto(p.Panel, 1-motifRibbon).String()+`"`)
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%[1]d" viewBox="0 0 48 48">%s</svg>`, size,
		colours.Replace(motif))
	return "url(data:image/svg+xml," + url.PathEscape(svg) + ")"
}
