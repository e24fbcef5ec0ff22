package giftsite

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"path"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
)

//go:embed pages/style.css
var styleSheet []byte

//go:embed pages/site.js
var script []byte

// The fonts of a brand's headings and buttons, with their licences. Running text has a font of the device.
//
//go:embed fonts/*.woff2
var fontFiles embed.FS

// assetPrefix begins the paths of files that all pages share. It is no token: tokens are longer.
const assetPrefix = Prefix + "assets/"

// assets are the shared files by their path, which changes with their content. Browsers keep them for the next page.
var assets = map[string]staticfile.File{}

// The paths of the style sheet and the script.
var (
	stylePath  = addAsset("style.css", "text/css; charset=utf-8", styleSheet)
	scriptPath = addAsset("site.js", "text/javascript; charset=utf-8", script)
)

func addAsset(name, contentType string, content []byte) string {
	sum := sha256.Sum256(content)
	extension := path.Ext(name)
	address := assetPrefix + name[:len(name)-len(extension)] + "." + hex.EncodeToString(sum[:6]) + extension
	assets[address] = staticfile.New(contentType, staticfile.Versioned, content)
	return address
}

// font is a typeface. It is used only if it arrives before the first text is drawn, so that nothing moves: on a slow network the
// first page has the font of the device, and the next one the font of the brand.
type font struct {
	// path is the file with Latin letters, which every page needs. The other one is requested when a page has such letters.
	path string
	// rules declare both files for the style sheet.
	rules string
	// files are the contents by path.
	files map[string][]byte
}

var fonts = map[string]font{
	typeSerif:    newFont("fraunces"),
	typeGrotesk:  newFont("hanken-grotesk"),
	typeHumanist: newFont("source-sans-3"),
}

func newFont(name string) font {
	f := font{files: map[string][]byte{}}
	for part, letters := range map[string]string{
		"latin":     "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC",
		"latin-ext": "U+0100-0130,U+0132-0151,U+0154-02BA,U+1E00-1EFF",
	} {
		content, err := fontFiles.ReadFile("fonts/" + name + "-" + part + ".woff2")
		if err != nil {
			panic(err) // It is embedded.
		}
		address := addAsset(name+"-"+part+".woff2", "font/woff2", content)
		f.files[address] = content
		f.rules += fmt.Sprintf(
			`@font-face{font-family:Brand;font-weight:600;font-display:optional;src:url(%s) format("woff2");unicode-range:%s}`, address,
			letters,
		)
		if part == "latin" {
			f.path = address
		}
	}
	return f
}
