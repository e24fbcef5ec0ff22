package giftsite

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// rgb is a colour of sRGB with channels from 0 to 1.
type rgb [3]float64

var (
	white = rgb{1, 1, 1}
	// surface is the darkest background of coloured text on light pages, except tints.
	surface = mustColour("#f7f5f1")
	// dark is the text on light colours, and the background of dark pages.
	dark = mustColour("#14171c")
	// darkCard is the lightest background of coloured text on dark pages, except tints.
	darkCard = mustColour("#1f2329")
	// darkMuted is the secondary text of dark pages. Links are at least as light: otherwise they look switched off.
	darkMuted = mustColour("#b9b7b2")
	// defaultColour is that of a brand without a colour.
	defaultColour = mustColour("#24485e")
)

const (
	// readable is the contrast that WCAG requires for text at level AA.
	readable = 4.5
	// visible is the contrast that WCAG requires for the parts of an input or a button.
	visible = 3
	// distinct is the contrast of wrapping paper with the dark cards on which it lies.
	distinct = 1.2
	// stepShare is the share of a colour that is left after one step towards black or white.
	stepShare = 0.96
	// tintShare is how much of a colour is in its tint, panelShare how much of the brand's colour is in the panel of dark pages.
	tintShare, darkTintShare, panelShare = 0.08, 0.16, 0.5
)

// palette has the colours of the pages. Every pair of text and background is readable, whatever the colours of the brand.
type palette struct {
	// Panel is the colour of the wrapping paper, OnPanel the text there, Ribbon the ribbon around it. They have the colours of the
	// brand.
	Panel, OnPanel, Ribbon rgb
	// Fill is the background of buttons, OnFill the text there, Rim their border: it shows a button whose background is nearly that of
	// the page.
	Fill, OnFill, Rim rgb
	// Ink is coloured text on the backgrounds of the page, Tint a coloured background.
	Ink, Tint rgb
}

// lightPalette is for a light page of a brand. Buttons and links have the colour of the accent.
func lightPalette(brand, accent rgb) palette {
	var p palette
	p.Panel, p.OnPanel = withText(brand)
	p.Fill, p.OnFill = withText(accent)
	for p.Ink = accent; ; p.Ink = p.Ink.mixedInto(dark, stepShare) {
		p.Tint = p.Ink.mixedInto(white, tintShare)
		if contrast(p.Ink, surface) >= readable && contrast(p.Ink, p.Tint) >= readable {
			break
		}
	}
	if p.Rim = p.Fill; contrast(p.Rim, surface) < visible {
		p.Rim = p.Ink
	}
	return p
}

// darkPalette is for a dark page.
func darkPalette(brand, accent rgb) palette {
	var p palette
	for colour := brand.mixedInto(rgb{}, panelShare); ; colour = colour.lightened() {
		if p.Panel, p.OnPanel = withText(colour); contrast(p.Panel, darkCard) >= distinct {
			break
		}
	}
	for colour := accent; ; colour = colour.lightened() {
		if p.Fill, p.OnFill = withText(colour); contrast(p.Fill, darkCard) >= visible {
			break
		}
	}
	p.Rim = p.Fill
	for p.Ink = accent; ; p.Ink = p.Ink.lightened() {
		p.Tint = p.Ink.mixedInto(darkCard, darkTintShare)
		if contrast(p.Ink, darkCard) >= contrast(darkMuted, darkCard) && contrast(p.Ink, p.Tint) >= readable {
			return p
		}
	}
}

// withText returns the colour of text on a background. A colour on which neither white nor dark text is readable becomes darker.
func withText(background rgb) (ground, text rgb) {
	for ; ; background = background.mixedInto(dark, stepShare) {
		for _, text := range []rgb{white, dark} {
			if contrast(text, background) >= readable {
				return background, text
			}
		}
	}
}

func (p palette) properties() string {
	return fmt.Sprintf("--panel:%s;--on-panel:%s;--ribbon:%s;--fill:%s;--on-fill:%s;--rim:%s;--ink:%s;--tint:%s", p.Panel, p.OnPanel,
		p.Ribbon, p.Fill, p.OnFill, p.Rim, p.Ink, p.Tint)
}

// The values of attributes that the style sheet reads.
const (
	schemeAuto, schemeLight, schemeDark              = "auto", "light", "dark"
	cornersSquare, cornersSoft, cornersRound         = "square", "soft", "round"
	typeSystem, typeSerif, typeGrotesk, typeHumanist = "system", "serif", "grotesk", "humanist"
)

// theme is how the pages of a brand look.
type theme struct {
	Light, Dark palette
	// Scheme, Corners and Typeface are values of the constants above.
	Scheme, Corners, Typeface string
	// Look chooses the pattern of the wrapping paper.
	Look int
}

// newTheme reads colours such as #1A2B3C. Anything else is the default, which for the accent is the colour of the brand.
func newTheme(brand, accent string) theme {
	colour, ok := parseColour(brand)
	if !ok {
		colour = defaultColour
	}
	second, ok := parseColour(accent)
	if !ok {
		second = colour
	}
	t := theme{
		Light: lightPalette(colour, second), Dark: darkPalette(colour, second),
		Scheme: schemeAuto, Corners: cornersSoft, Typeface: typeSystem,
	}
	t.Light.Ribbon = ribbonOn(t.Light.Panel, t.Dark.Panel, second)
	t.Dark.Ribbon = t.Light.Ribbon
	return t
}

// themeOf reads the theme of a brand. A value that this gateway does not know yet is the default.
func themeOf(brand *linksv1.ClaimBrand) theme {
	set := brand.GetSite().GetTheme()
	t := newTheme(brand.GetPrimaryColour(), set.GetAccentColour())
	t.Look = lookOf(brand)
	t.Scheme = cmp.Or(schemes[set.GetColourScheme()], t.Scheme)
	t.Corners = cmp.Or(corners[set.GetCorners()], t.Corners)
	t.Typeface = cmp.Or(typefaces[set.GetTypeface()], t.Typeface)
	return t
}

var (
	schemes = map[tenantsv1.ColourScheme]string{
		tenantsv1.ColourScheme_COLOUR_SCHEME_LIGHT: schemeLight, tenantsv1.ColourScheme_COLOUR_SCHEME_DARK: schemeDark,
	}
	corners = map[tenantsv1.CornerStyle]string{
		tenantsv1.CornerStyle_CORNER_STYLE_SQUARE: cornersSquare, tenantsv1.CornerStyle_CORNER_STYLE_ROUND: cornersRound,
	}
	typefaces = map[tenantsv1.Typeface]string{
		tenantsv1.Typeface_TYPEFACE_SERIF: typeSerif, tenantsv1.Typeface_TYPEFACE_GROTESK: typeGrotesk,
		tenantsv1.Typeface_TYPEFACE_HUMANIST: typeHumanist,
	}
)

// darkNeutrals are the other colours of dark pages. Those of light pages are in the style sheet.
const darkNeutrals = "color-scheme:dark;--text:#f3f1ed;--muted:#b9b7b2;--surface:#14171c;--card:#1f2329;--line:#373c44;" +
	"--edge:#8b919b;--wrong:#ffb38a;--halo:#000;--chip:#fff;"

// prefersDark is the condition of the dark colours if the scheme is automatic.
const prefersDark = "screen and (prefers-color-scheme:dark)"

// DarkMedia is the condition under which the pages are dark; empty: they never are. Printed pages are light.
func (t theme) DarkMedia() string {
	return map[string]string{schemeDark: "screen", schemeAuto: prefersDark}[t.Scheme]
}

// Style sets the properties of the theme for the style sheet.
func (t theme) Style() template.CSS {
	var b strings.Builder
	fmt.Fprintf(&b, ":root,.letter,.tag{%s;--pattern:%s}", t.Light.properties(), t.Light.pattern(t.Look))
	if media := t.DarkMedia(); media != "" {
		fmt.Fprintf(&b, "@media %s{:root{%s%s;--pattern:%s}}", media, darkNeutrals, t.Dark.properties(), t.Dark.pattern(t.Look))
	}
	if f, ok := fonts[t.Typeface]; ok {
		b.WriteString(f.rules)
	}
	return template.CSS(b.String()) //nolint:gosec // Colours and constants.
}

func parseColour(hex string) (rgb, bool) {
	const form = len("#1a2b3c")
	if len(hex) != form || hex[0] != '#' {
		return rgb{}, false
	}
	n, err := strconv.ParseUint(hex[1:], 16, 24)
	if err != nil {
		return rgb{}, false
	}
	return rgb{float64(n>>16) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}, true
}

func mustColour(hex string) rgb {
	c, ok := parseColour(hex)
	if !ok {
		panic("not a colour: " + hex)
	}
	return c
}

func (c rgb) String() string {
	return fmt.Sprintf("#%02x%02x%02x", channel(c[0]), channel(c[1]), channel(c[2]))
}

func channel(v float64) int { return int(math.Round(v * 255)) }

// mixedInto returns a mixture with the given share of the colour.
func (c rgb) mixedInto(other rgb, share float64) rgb {
	for i := range c {
		c[i] = c[i]*share + other[i]*(1-share)
	}
	return c
}

// lightened returns the colour after one step towards a light one of its own hue. White alone would make a dark colour grey.
func (c rgb) lightened() rgb {
	const tint = 0.5
	light := white
	if strongest := max(c[0], c[1], c[2]); strongest > 0 {
		light = rgb{c[0] / strongest, c[1] / strongest, c[2] / strongest}.mixedInto(white, tint)
	}
	return c.mixedInto(light, stepShare)
}

// difference is how far apart two colours look: their distance in OKLab, where black and white are 1 apart. Unlike contrast, it
// knows hues.
func difference(a, b rgb) float64 {
	sum := 0.0
	for i, v := range a.oklab() {
		sum += (v - b.oklab()[i]) * (v - b.oklab()[i])
	}
	return math.Sqrt(sum)
}

// oklab returns lightness, green to red, and blue to yellow.
func (c rgb) oklab() rgb {
	linearised := rgb{linear(c[0]), linear(c[1]), linear(c[2])}
	cones := linearised.through([3]rgb{
		{0.4122214708, 0.5363325363, 0.0514459929},
		{0.2119034982, 0.6806995451, 0.1073969566},
		{0.0883024619, 0.2817188376, 0.6299787005},
	})
	return rgb{math.Cbrt(cones[0]), math.Cbrt(cones[1]), math.Cbrt(cones[2])}.through([3]rgb{
		{0.2104542553, 0.7936177850, -0.0040720468},
		{1.9779984951, -2.4285922050, 0.4505937099},
		{0.0259040371, 0.7827717662, -0.8086757660},
	})
}

// through multiplies a matrix with the colour.
func (c rgb) through(matrix [3]rgb) (out rgb) {
	for i, row := range matrix {
		out[i] = row[0]*c[0] + row[1]*c[1] + row[2]*c[2]
	}
	return out
}

// contrast is the ratio of WCAG 2, from 1 to 21, of colours rounded as a browser does.
func contrast(a, b rgb) float64 {
	const flare = 0.05
	la, lb := a.luminance()+flare, b.luminance()+flare
	return max(la, lb) / min(la, lb)
}

func (c rgb) luminance() float64 {
	weights := [3]float64{0.2126, 0.7152, 0.0722}
	sum := 0.0
	for i, v := range c {
		sum += weights[i] * linear(float64(channel(v))/255)
	}
	return sum
}

func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
