package rules

import (
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Label is a code with its name in en-US and, by locale, in others.
type Label struct {
	Code  string
	Name  string
	Names map[string]string
}

// Category with its subcategories in display order.
type Category struct {
	Label
	Position      int32
	Subcategories []Label
}

const (
	maxSubcategories        = 500
	maxCategoryTranslations = 50_000
)

// ReadCategory validates a category with its translations.
func ReadCategory(req *catalogv1.PutCategoryRequest, errs *fields.Errors) Category {
	in := req.GetCategory()
	if in == nil {
		errs.Add("category", problem.FieldRequired, "is required")
		return Category{}
	}
	code("category.code", in.GetCode(), categoryCode, errs)
	errs.Required("category.name", in.GetName(), maxName)
	names := categoryNames(req, errs)
	c := Category{Label: Label{in.GetCode(), in.GetName(), names[in.GetCode()]}, Position: req.GetPosition()}
	const list = "category.subcategories"
	atMost(list, len(in.GetSubcategories()), maxSubcategories, errs)
	codes := once{}
	for i, s := range in.GetSubcategories() {
		path := at(list, i, "code")
		rest, ok := strings.CutPrefix(s.GetCode(), in.GetCode()+"__")
		if len(s.GetCode()) > 2*maxCode || !ok || !categoryCode.MatchString(rest) {
			errs.Add(path, problem.FieldInvalid, "must have the form <CATEGORY>__<SUBCATEGORY>")
		}
		codes.check(path, s.GetCode(), errs)
		errs.Required(at(list, i, "name"), s.GetName(), maxName)
		c.Subcategories = append(c.Subcategories, Label{s.GetCode(), s.GetName(), names[s.GetCode()]})
	}
	return c
}

// categoryNames returns the translated names by code and locale.
func categoryNames(req *catalogv1.PutCategoryRequest, errs *fields.Errors) map[string]map[string]string {
	names := map[string]map[string]string{req.GetCategory().GetCode(): {}}
	for _, s := range req.GetCategory().GetSubcategories() {
		names[s.GetCode()] = map[string]string{}
	}
	atMost("translations", len(req.GetTranslations()), maxCategoryTranslations, errs)
	for i, t := range req.GetTranslations() {
		translationLocale(at("translations", i, "locale"), t.GetLocale(), errs)
		errs.Required(at("translations", i, "name"), t.GetName(), maxName)
		byLocale, known := names[t.GetCode()]
		if !known {
			errs.Add(at("translations", i, "code"), problem.FieldInvalid, "must be the category or one of its subcategories")
			continue
		}
		if _, twice := byLocale[t.GetLocale()]; twice {
			errs.Add(at("translations", i, ""), problem.FieldDuplicate, "translates the same code into the same locale as an earlier entry")
		}
		byLocale[t.GetLocale()] = t.GetName()
	}
	return names
}

// InLocale is the label's name in the locale, or else in en-US.
func (l Label) InLocale(locale string) string {
	if name, ok := l.Names[locale]; ok {
		return name
	}
	return l.Name
}
