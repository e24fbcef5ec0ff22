package docs

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
)

//go:embed assets
var assets embed.FS

var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".ico": "image/x-icon",
}

// addAssets adds the files that pages load. Browsers and crawlers look for two of them at the root of the host.
func (b *builder) addAssets() error {
	err := fs.WalkDir(assets, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		f := staticfile.New(contentTypes[path.Ext(name)], staticfile.Revalidate, content)
		b.add(assetsPath+strings.TrimPrefix(name, "assets/"), f)
		if path.Base(name) == "favicon.ico" {
			b.files["/favicon.ico"] = f
		}
		return nil
	})
	// The pages of links and their pictures are for previews in messengers. Their headers keep them out of search engines.
	robots := "User-agent: *\nAllow: " + b.base + sitePath + "\nAllow: " + b.base + documentPath +
		"\nAllow: /c/\nAllow: " + b.base + "/catalog/images/\nDisallow: /\n"
	b.files["/robots.txt"] = staticfile.New(textType, staticfile.Revalidate, []byte(robots))
	return err
}
