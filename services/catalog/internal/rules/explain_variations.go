package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// maxNamed is how many values or combinations an explanation names. The catalog and the campaign have all of them.
	maxNamed = 20
	// maxExplanation is how many bytes an explanation may have, because it travels in the headers of a response.
	maxExplanation = 2000
)

// explainChoice says which values may be chosen of each dimension of which none was.
func explainChoice(of []Variation, choice map[string]string) *problem.Error {
	chosen, known := fields.NFCVariations(choice), 0
	var parts []string
	for _, v := range of {
		if _, named := chosen[norm.NFC.String(v.Dimension)]; named {
			known++
		}
		if _, ok := fields.OfferedVariation(v.Dimension, v.Values, chosen); !ok {
			values := make([]string, len(v.Values))
			for i, value := range v.Values {
				values[i] = fmt.Sprintf("%q", value)
			}
			parts = append(parts, fmt.Sprintf("Choose one value for %q: %s.", v.Dimension, firstOf(values)))
		}
	}
	if len(choice) > known {
		parts = append(parts, "Leave out what is not a dimension of the gift.")
	}
	return invalidVariations(parts...)
}

// explainOffer says in which variations a campaign offers the gift.
func explainOffer(offered []map[string]string) *problem.Error {
	var combinations []string
	for _, choice := range offered {
		var values []string
		for _, dimension := range slices.Sorted(maps.Keys(choice)) {
			values = append(values, fmt.Sprintf("%q %q", dimension, choice[dimension]))
		}
		combinations = append(combinations, strings.Join(values, " with "))
	}
	slices.Sort(combinations)
	parts := []string{"The campaign does not offer the gift in these variations."}
	if len(combinations) > 0 {
		parts = append(parts, "It offers "+firstOf(combinations)+".")
	}
	return invalidVariations(parts...)
}

func firstOf(texts []string) string {
	list, number := texts[0], 1
	for number < min(len(texts), maxNamed) && len(list)+len(texts[number]) < maxExplanation/2 {
		list += ", " + texts[number]
		number++
	}
	if more := len(texts) - number; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// invalidVariations drops the parts that have no room.
func invalidVariations(parts ...string) *problem.Error {
	detail := parts[0]
	for _, part := range parts[1:] {
		if len(detail)+len(part) < maxExplanation {
			detail += " " + part
		}
	}
	return problem.New(problem.InvalidVariations, "%s", detail)
}
