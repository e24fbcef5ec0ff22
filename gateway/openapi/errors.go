package openapi

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/problem"
)

// errorView is an error as the page of errors shows it. Text has its cause and remedy.
type errorView struct {
	problem.Info
	Text node
}

// errorsPage shows every code of the registry, in its order.
func errorsPage() ([]byte, error) {
	file, err := readYAML("errors.yaml")
	if err != nil {
		return nil, fmt.Errorf("errors.yaml: %w", err)
	}
	texts := node{root: file, value: file}
	page := struct {
		Title  string
		Menu   []menu
		Errors []errorView
		Fields []node
	}{Title: "Errors of the Partner Gifting API", Fields: texts.Get("fields").All()}
	codes := menu{Title: "Codes"}
	for _, info := range problem.Registry() {
		page.Errors = append(page.Errors, errorView{info, texts.Get("codes", string(info.Code))})
		codes.Links = append(codes.Links, link{"#" + string(info.Code), string(info.Code)})
	}
	page.Menu = []menu{
		{Title: "Reference", Links: []link{{"../docs", "Partner Gifting API"}, {"#field-codes", "Field codes"}}},
		codes,
	}
	return render("errors", page)
}
