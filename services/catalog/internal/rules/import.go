package rules

import (
	"fmt"
	"reflect"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// MaxImport bounds the gifts of one call, and so how long it holds up other upkeep.
const MaxImport = 500

// ImportOutcome is what became of a gift of an import.
type ImportOutcome int

// The outcomes.
const (
	ImportRejected ImportOutcome = iota
	ImportCreated
	ImportUpdated
	ImportUnchanged
)

// CheckImport demands gifts that can be put at once: a second one of the same id would have to be
// put after the first.
func CheckImport(products []*catalogv1.PutProductRequest, errs *fields.Errors) {
	const field = "products"
	if len(products) == 0 {
		errs.Add(field, problem.FieldRequired, "must have at least one entry")
	}
	atMost(field, len(products), MaxImport, errs)
	ids := once{}
	for i, p := range products {
		if id, ok := fields.ParseUUID(p.GetId()); ok {
			ids.check(fmt.Sprintf("%s[%d].id", field, i), id, errs)
		}
	}
}

// Same says whether putting next in the place of p changes nothing at all.
func (p Product) Same(next Product) bool {
	return reflect.DeepEqual(p.plain(), next.plain())
}

// plain makes an empty list or map and a missing one equal.
func (p Product) plain() Product {
	p.Categories = append([]string(nil), p.Categories...)
	p.ImageFileIDs = append([]string(nil), p.ImageFileIDs...)
	p.Countries = append([]string(nil), p.Countries...)
	p.Variations = append([]Variation(nil), p.Variations...)
	if len(p.Translations) == 0 {
		p.Translations = nil
	}
	if len(p.Prices) == 0 {
		p.Prices = nil
	}
	return p
}
