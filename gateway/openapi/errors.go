package openapi

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/problem"
)

// errorTexts are the texts of errors.yaml.
type errorTexts struct {
	Codes  map[problem.Code]errorText
	Fields ordered[string]
}

// errorText says what causes an error and what to do about it.
type errorText struct {
	Cause, Remedy string
}

// errorView is an error as the page of errors shows it.
type errorView struct {
	problem.Info
	errorText
}

// errorsPage shows every code of the registry, in its order.
func errorsPage() ([]byte, error) {
	var texts errorTexts
	file, err := readYAML("errors.yaml")
	if err != nil {
		return nil, fmt.Errorf("errors.yaml: %w", err)
	}
	if err := file.Decode(&texts); err != nil {
		return nil, fmt.Errorf("errors.yaml: %w", err)
	}
	page := struct {
		Title  string
		Menu   []menu
		Errors []errorView
		Fields ordered[string]
	}{Title: "Errors of the Partner Gifting API", Fields: texts.Fields}
	codes := menu{Title: "Codes"}
	for _, info := range problem.Registry() {
		text, ok := texts.Codes[info.Code]
		if !ok || len(texts.Codes) != len(problem.Registry()) {
			return nil, fmt.Errorf("errors.yaml: its codes are not those of pkg/problem: %s", info.Code)
		}
		page.Errors = append(page.Errors, errorView{info, text})
		codes.Links = append(codes.Links, link{"#" + string(info.Code), string(info.Code)})
	}
	page.Menu = []menu{
		{Title: "Reference", Links: []link{{"../docs", "Partner Gifting API"}, {"#field-codes", "Field codes"}}},
		codes,
	}
	return render("errors", page)
}
