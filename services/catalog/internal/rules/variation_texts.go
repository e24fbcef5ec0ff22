package rules

import (
	"cmp"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// VariationText is a dimension of a gift in the words of one locale.
type VariationText struct {
	Dimension string `json:"dimension"`
	Name      string `json:"name"`
	// Values are the shown texts by value. A value without one is shown as it is.
	Values map[string]string `json:"values,omitempty"`
}

// readVariationTexts validates translations of dimensions without the gift, which CheckTranslations compares them with.
func readVariationTexts(field string, list []*catalogv1.VariationTranslation, errs *fields.Errors) []VariationText {
	atMost(field, len(list), maxDimensions, errs)
	var out []VariationText
	dimensions := once{}
	for i, v := range list {
		errs.Required(at(field, i, "dimension"), v.GetDimension(), maxVariation)
		dimensions.check(at(field, i, "dimension"), v.GetDimension(), errs)
		errs.Required(at(field, i, "name"), v.GetName(), maxVariation)
		atMost(at(field, i, "values"), len(v.GetValues()), maxValues, errs)
		text := VariationText{Dimension: v.GetDimension(), Name: v.GetName()}
		for value, name := range v.GetValues() {
			errs.Required(at(field, i, "values."+value), name, maxVariation)
		}
		if len(v.GetValues()) > 0 {
			text.Values = v.GetValues()
		}
		out = append(out, text)
	}
	return out
}

// CheckTranslations checks that translations name only dimensions and values of the gift.
func CheckTranslations(list []*catalogv1.ProductTranslation, gift []Variation, errs *fields.Errors) {
	for i, t := range list {
		for j, v := range t.GetVariations() {
			path := at(at("translations", i, "variations"), j, "")
			k := slices.IndexFunc(gift, func(g Variation) bool { return g.Dimension == v.GetDimension() })
			if k < 0 {
				if !errs.Has(path + ".dimension") {
					errs.Add(path+".dimension", problem.FieldInvalid, "is no dimension of the gift")
				}
				continue
			}
			for value := range v.GetValues() {
				if !slices.Contains(gift[k].Values, value) {
					errs.Add(path+".values."+value, problem.FieldInvalid, "is no value of the dimension")
				}
			}
		}
	}
}

// TextIn returns the gift's texts for readers of the first locale. Each text is that of the first locale that has it, at last the
// one of p, and so is the name of each dimension and value.
func TextIn(base Text, translations map[string]Text, locales []string) Text {
	out := Text{}
	for _, locale := range locales {
		t := translations[locale]
		out.Name, out.Description = cmp.Or(out.Name, t.Name), cmp.Or(out.Description, t.Description)
		for _, v := range t.Variations {
			out.addNames(v)
		}
	}
	out.Name, out.Description = cmp.Or(out.Name, base.Name), cmp.Or(out.Description, base.Description)
	return out
}

// addNames adds what the text does not have yet.
func (t *Text) addNames(v VariationText) {
	i := slices.IndexFunc(t.Variations, func(have VariationText) bool { return have.Dimension == v.Dimension })
	if i < 0 {
		i = len(t.Variations)
		t.Variations = append(t.Variations, VariationText{Dimension: v.Dimension, Name: v.Name, Values: map[string]string{}})
	}
	for value, name := range v.Values {
		if _, known := t.Variations[i].Values[value]; !known {
			t.Variations[i].Values[value] = name
		}
	}
}
