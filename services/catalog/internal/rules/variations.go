package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Variation is a dimension of a gift, such as the size, with its values in display order.
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
		dimensions.check(at("variations", i, "dimension"), norm.NFC.String(v.GetDimension()), errs)
		path, values := at("variations", i, "values"), once{}
		if len(v.GetValues()) == 0 {
			errs.Add(path, problem.FieldRequired, "must have at least one value")
		}
		atMost(path, len(v.GetValues()), maxValues, errs)
		for j, value := range v.GetValues() {
			errs.Required(at(path, j, ""), value, maxVariation)
			values.check(at(path, j, ""), norm.NFC.String(value), errs)
		}
		out = append(out, Variation{Dimension: v.GetDimension(), Values: v.GetValues()})
	}
	return out
}

// IsExactChoice reports whether choice has exactly one valid value for every dimension, spelled as in the catalog.
func IsExactChoice(variations []Variation, choice map[string]string) bool {
	if len(choice) != len(variations) {
		return false
	}
	chosen := fields.NFCVariations(choice)
	return !slices.ContainsFunc(variations, func(v Variation) bool {
		_, ok := fields.OfferedVariation(v.Dimension, v.Values, chosen)
		return !ok
	})
}

// VariationsKey digests a choice independently of the order of its dimensions and of the normalization form of its texts.
func VariationsKey(choice map[string]string) []byte {
	choice = fields.NFCVariations(choice)
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

// MaxStock is the largest stock of a SKU.
const MaxStock = 1_000_000_000

const maxReason = 500

// Correction of a SKU's stock: units to add, or a new count. The audit has it in this form.
type Correction struct {
	SKUID string `json:"skuId"`
	Add   int32  `json:"add,omitempty"`
	// Expected is nil for a relative correction.
	Expected *int32 `json:"expected,omitempty"`
	Stock    int32  `json:"stock,omitempty"`
	Reason   string `json:"reason"`
}

// ReadCorrection validates a correction, which is of one kind and has a reason.
func ReadCorrection(req *catalogv1.CorrectStockRequest, errs *fields.Errors) Correction {
	c := Correction{SKUID: errs.UUID("skuId", req.GetSkuId()), Reason: req.GetReason()}
	errs.RequiredText("reason", req.GetReason(), maxReason)
	switch change := req.GetChange().(type) {
	case *catalogv1.CorrectStockRequest_Add:
		if change.Add == 0 || change.Add > MaxStock || change.Add < -MaxStock {
			errs.Add("add", problem.FieldInvalid, "must be a number of units other than 0, at most 1000000000 either way")
		}
		c.Add = change.Add
	case *catalogv1.CorrectStockRequest_Recount:
		stockField("recount.expected", change.Recount.GetExpected(), errs)
		stockField("recount.stock", change.Recount.GetStock(), errs)
		c.Expected, c.Stock = new(change.Recount.GetExpected()), change.Recount.GetStock()
	default:
		errs.Add("add", problem.FieldRequired, "is required unless recount is set")
	}
	return c
}

func stockField(field string, units int32, errs *fields.Errors) {
	if units < 0 || units > MaxStock {
		errs.Add(field, problem.FieldInvalid, "must be between 0 and 1000000000")
	}
}

// Apply returns the stock after the correction.
func (c Correction) Apply(stock int32) (int32, error) {
	if c.Expected != nil {
		if *c.Expected != stock {
			return 0, problem.New(problem.VersionConflict,
				"The stock is %d, not %d: it has changed since it was counted.", stock, *c.Expected)
		}
		return c.Stock, nil
	}
	after := int64(stock) + int64(c.Add)
	if after < 0 || after > MaxStock {
		return 0, problem.Invalid(problem.Violation{
			Field: "add", Code: problem.FieldInvalid,
			Message: fmt.Sprintf("must leave between 0 and %d units; there are %d", MaxStock, stock),
		})
	}
	return int32(after), nil
}

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

// TextIn returns the gift's texts for readers of the first locale. Name and description come from the first locale that has them,
// or else from base. The shown text of each dimension and value comes from the first locale that has one.
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

// readImageVariations validates what images of the gift show, and returns it by image.
func readImageVariations(list []*catalogv1.ImageVariations, gift Product, errs *fields.Errors) map[string]map[string]string {
	const field = "imageVariations"
	atMost(field, len(list), maxReferences, errs)
	all, images := map[string]map[string]string{}, once{}
	for i, image := range list {
		errs.Required(at(field, i, "fileId"), image.GetFileId(), FileIDLen)
		images.check(at(field, i, "fileId"), image.GetFileId(), errs)
		if !slices.Contains(gift.ImageFileIDs, image.GetFileId()) {
			errs.Add(at(field, i, "fileId"), problem.FieldInvalid, "is no image of the gift")
		}
		if len(image.GetVariations()) == 0 {
			errs.Add(at(field, i, "variations"), problem.FieldRequired, "must have at least one value")
		}
		for dimension, value := range image.GetVariations() {
			if !hasValue(gift.Variations, dimension, value) {
				errs.Add(at(field, i, "variations."+dimension), problem.FieldInvalid, "is no value of a dimension of the gift")
			}
		}
		all[image.GetFileId()] = image.GetVariations()
	}
	return all
}

func hasValue(gift []Variation, dimension, value string) bool {
	return slices.ContainsFunc(gift, func(v Variation) bool { return v.Dimension == dimension && slices.Contains(v.Values, value) })
}

// DropStaleImageVariations drops what images show if the gift no longer has the image or a value. Release 1.0.0 changes gifts and
// leaves image_variations as they are.
func DropStaleImageVariations(byImage map[string]map[string]string, images []string, gift []Variation) {
	maps.DeleteFunc(byImage, func(image string, shown map[string]string) bool {
		for dimension, value := range shown {
			if !hasValue(gift, dimension, value) {
				return true
			}
		}
		return !slices.Contains(images, image)
	})
}
