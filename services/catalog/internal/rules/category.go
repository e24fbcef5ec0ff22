package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

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
	checkCode("category.code", in.GetCode(), categoryCode, errs)
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

// InFirst is the label's name in the first of the locales that has one, or else in en-US.
func (l Label) InFirst(locales []string) string {
	for _, locale := range locales {
		if name, ok := l.Names[locale]; ok {
			return name
		}
	}
	return l.Name
}

// Region is a group of countries with the same prices.
type Region struct {
	Code string
	// Countries in alphabetical order.
	Countries []string
}

// ReadRegion validates a region.
func ReadRegion(req *catalogv1.PutRegionRequest, errs *fields.Errors) Region {
	checkCode("code", req.GetCode(), regionCode, errs)
	return Region{Code: req.GetCode(), Countries: ReadCountries("countries", req.GetCountries(), errs)}
}

// Move is a change of a country's region; an empty code means no region.
type Move struct{ From, To string }

// Moves returns the changes of regions when r is put, each once. current has the region of every country that is or will be in r.
func (r Region) Moves(current map[string]string) []Move {
	seen := map[Move]struct{}{}
	for _, c := range r.Countries {
		if current[c] != r.Code {
			seen[Move{From: current[c], To: r.Code}] = struct{}{}
		}
	}
	for c, region := range current {
		if region == r.Code && !slices.Contains(r.Countries, c) {
			seen[Move{From: r.Code}] = struct{}{}
		}
	}
	moves := make([]Move, 0, len(seen))
	for m := range seen {
		moves = append(moves, m)
	}
	return moves
}

// Plain decimals within the range of their columns.
var (
	rateForm  = regexp.MustCompile(`^\d{1,10}(\.\d{1,10})?$`)
	priceForm = regexp.MustCompile(`^\d{1,8}(\.\d{1,2})?$`)
)

// CheckRate validates an exchange rate.
func CheckRate(req *catalogv1.PutExchangeRateRequest, errs *fields.Errors) {
	switch c := req.GetCurrency(); {
	case fields.Blank(c):
		errs.Add("currency", problem.FieldRequired, "is required")
	case !fields.IsCurrency(c) || c == EUR:
		errs.Add("currency", problem.FieldInvalid, "must be an active currency of ISO 4217 other than EUR")
	}
	if _, ok := parsePositive(req.GetRate(), rateForm); !ok {
		errs.Add("rate", problem.FieldInvalid, "must be a positive decimal with at most 10 digits before and after the point")
	}
}

func parsePositive(text string, form *regexp.Regexp) (decimal.Decimal, bool) {
	if !form.MatchString(text) {
		return decimal.Decimal{}, false
	}
	d, err := decimal.NewFromString(text)
	return d, err == nil && d.IsPositive()
}
