package rules

import (
	"fmt"
	"reflect"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// MaxImport is how many gifts one call may have. It bounds how long other changes wait.
const MaxImport = 500

// ImportOutcome is the result of importing a gift.
type ImportOutcome int

// The outcomes.
const (
	ImportRejected ImportOutcome = iota
	ImportCreated
	ImportUpdated
	ImportUnchanged
)

// CheckImport checks that the call has gifts and that each id appears once.
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

// Same reports whether replacing p by next changes nothing.
func (p Product) Same(next Product) bool {
	return reflect.DeepEqual(p.plain(), next.plain())
}

// plain makes empty and missing lists and maps equal.
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
