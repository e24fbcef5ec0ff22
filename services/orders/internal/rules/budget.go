package rules

import (
	"regexp"

	"github.com/shopspring/decimal"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// decimalText bounds digits and exponent, because a short text could otherwise mean a number of a billion digits.
var decimalText = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$`)

// budgetLimit is the smallest amount that is too large for a custom budget.
var budgetLimit = decimal.New(1, 10)

const moneyDecimals = 2

// ParseBudget reads an amount that is positive, below 10000000000 and has at most two decimals.
func ParseBudget(text string) (decimal.Decimal, bool) {
	if !decimalText.MatchString(text) {
		return decimal.Decimal{}, false
	}
	amount, err := decimal.NewFromString(text)
	if err != nil || !amount.IsPositive() || amount.GreaterThanOrEqual(budgetLimit) || !amount.Equal(amount.Truncate(moneyDecimals)) {
		return decimal.Decimal{}, false
	}
	return amount, true
}

func checkBudget(at string, b *commonv1.Money, currency string, errs *fields.Errors) {
	if b == nil {
		errs.Add(at, problem.FieldRequired, "is required for a custom request")
		return
	}
	if fields.Blank(b.GetAmount()) {
		errs.Add(at+".amount", problem.FieldRequired, "is required")
	} else if _, ok := ParseBudget(b.GetAmount()); !ok {
		errs.Add(at+".amount", problem.FieldInvalid, "must be positive, below 10000000000, with at most 2 decimals")
	}
	switch {
	case fields.Blank(b.GetCurrency()):
		errs.Add(at+".currency", problem.FieldRequired, "is required; expected "+currency)
	case b.GetCurrency() != currency:
		errs.Add(at+".currency", problem.FieldInvalid, "must be the tenant's currency, "+currency)
	}
}
