package rules

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// MaxStock is the largest stock of a SKU.
const MaxStock = 1_000_000_000

const maxReason = 500

// Correction of a SKU's stock: units to add, or a new count.
type Correction struct {
	Add int32
	// Expected is nil for a relative correction.
	Expected *int32
	Stock    int32
}

// ReadCorrection demands one kind of correction and a reason.
func ReadCorrection(req *catalogv1.CorrectStockRequest, errs *fields.Errors) Correction {
	errs.Required("reason", req.GetReason(), maxReason)
	switch change := req.GetChange().(type) {
	case *catalogv1.CorrectStockRequest_Add:
		if change.Add == 0 || change.Add > MaxStock || change.Add < -MaxStock {
			errs.Add("add", problem.FieldInvalid, "must be a number of units other than 0, at most 1000000000 either way")
		}
		return Correction{Add: change.Add}
	case *catalogv1.CorrectStockRequest_Recount:
		stockField("recount.expected", change.Recount.GetExpected(), errs)
		stockField("recount.stock", change.Recount.GetStock(), errs)
		expected := change.Recount.GetExpected()
		return Correction{Expected: &expected, Stock: change.Recount.GetStock()}
	default:
		errs.Add("add", problem.FieldRequired, "is required unless recount is set")
		return Correction{}
	}
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
			return 0, problem.New(problem.VersionConflict, "The stock is %d, not %d: it has changed since it was counted.", stock, *c.Expected)
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
