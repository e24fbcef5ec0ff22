package docs

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/problem"
)

// advice says of a code how it comes about and what to do.
type advice struct {
	Cause, Remedy string
}

// codeView is a code as the page of errors shows it.
type codeView struct {
	Code   problem.Code
	Status int
	Title  string
	advice
}

// fieldCode is a code inside errors[].
type fieldCode struct {
	Code, Meaning string
}

// errorsPage shows every code of the registry, in its order.
func errorsPage() ([]byte, error) {
	page := struct {
		Title  string
		Menu   []menu
		Codes  []codeView
		Fields []fieldCode
	}{Title: "Errors of the Partner Gifting API", Fields: fieldCodes()}
	texts := adviceByCode()
	codes := menu{Title: "Codes"}
	for _, info := range problem.Registry() {
		text, ok := texts[info.Code]
		if !ok {
			return nil, fmt.Errorf("page of errors: no advice on %s", info.Code)
		}
		page.Codes = append(page.Codes, codeView{info.Code, info.Status, info.Title, text})
		codes.Links = append(codes.Links, link{"#" + string(info.Code), string(info.Code)})
	}
	page.Menu = []menu{
		{Title: "Reference", Links: []link{{"../docs", "Partner Gifting API"}, {"#field-codes", "Field codes"}}},
		codes,
	}
	return render("errors", page)
}

func fieldCodes() []fieldCode {
	return []fieldCode{
		{problem.FieldRequired, "The field is missing or blank."},
		{problem.FieldInvalid, "The value is malformed, of the wrong type, or not allowed here."},
		{problem.FieldTooLong, "The value is longer than allowed."},
		{problem.FieldDuplicate, "An earlier entry of the same batch has the same e-mail address."},
		{problem.FieldNotEnabled, "The locale is not enabled for the tenant; see `tenant.locales` of `GET /me`."},
		{problem.FieldManagerNotFound, "`managerEmail` of the recipient names no active team member."},
		{
			problem.FieldNotAllowedWithCatalogSelection,
			"`campaignId` was sent together with `brandId` or `productIds`; send one selection.",
		},
	}
}
