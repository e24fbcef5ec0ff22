package openapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
)

//go:embed pages/*.tmpl
var templateFiles embed.FS

//go:embed pages/style.css
var styleSheet string

var pages = template.Must(template.New("pages").Funcs(template.FuncMap{
	"prose":  prose,
	"phrase": phrase,
	"slug":   slug,
	"style":  func() template.CSS { return template.CSS(styleSheet) }, //nolint:gosec // Part of this program.
}).ParseFS(templateFiles, "pages/*.tmpl"))

// menu is a titled group of links in the contents of a page.
type menu struct {
	Title string
	Links []link
}

type link struct {
	Href, Text string
}

func render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return b.Bytes(), nil
}
