package rules

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Variation is a dimension in which a gift comes, with its values in display order.
type Variation struct {
	Dimension string   `json:"dimension"`
	Values    []string `json:"values"`
}

const (
	maxDimensions = 10
	maxValues     = 200
	maxVariation  = 100
)

func readVariations(list []*catalogv1.Variation, errs *fields.Errors) []Variation {
	atMost("variations", len(list), maxDimensions, errs)
	out, dimensions := make([]Variation, 0, len(list)), once{}
	for i, v := range list {
		errs.Required(at("variations", i, "dimension"), v.GetDimension(), maxVariation)
		dimensions.check(at("variations", i, "dimension"), v.GetDimension(), errs)
		path, values := at("variations", i, "values"), once{}
		if len(v.GetValues()) == 0 {
			errs.Add(path, problem.FieldRequired, "must have at least one value")
		}
		atMost(path, len(v.GetValues()), maxValues, errs)
		for j, value := range v.GetValues() {
			errs.Required(at(path, j, ""), value, maxVariation)
			values.check(at(path, j, ""), value, errs)
		}
		out = append(out, Variation{Dimension: v.GetDimension(), Values: v.GetValues()})
	}
	return out
}

// Chosen reports whether choice has exactly one valid value for every dimension, spelled as in the catalog.
func Chosen(variations []Variation, choice map[string]string) bool {
	if len(choice) != len(variations) {
		return false
	}
	for _, v := range variations {
		value, ok := choice[v.Dimension]
		if !ok || !slices.Contains(v.Values, value) {
			return false
		}
	}
	return true
}

// VariationsKey digests a choice independently of the order of its dimensions.
func VariationsKey(choice map[string]string) []byte {
	h := sha256.New()
	write := func(s string) {
		_ = binary.Write(h, binary.BigEndian, uint64(len(s))) // A hash never fails to write.
		h.Write([]byte(s))
	}
	for _, dimension := range slices.Sorted(maps.Keys(choice)) {
		write(dimension)
		write(choice[dimension])
	}
	return h.Sum(nil)
}
