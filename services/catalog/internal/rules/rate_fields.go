package rules

import (
	"regexp"

	"github.com/shopspring/decimal"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Plain decimals within the columns they go to.
var (
	rateForm  = regexp.MustCompile(`^\d{1,10}(\.\d{1,10})?$`)
	priceForm = regexp.MustCompile(`^\d{1,8}(\.\d{1,2})?$`)
)

// CheckRate validates an exchange rate.
func CheckRate(req *catalogv1.PutExchangeRateRequest, errs *fields.Errors) {
	switch c := req.GetCurrency(); {
	case fields.Blank(c):
		errs.Add("currency", problem.FieldRequired, "is required")
	case !isCurrency(c) || c == EUR:
		errs.Add("currency", problem.FieldInvalid, "must be an ISO 4217 code other than EUR")
	}
	if _, ok := positive(req.GetRate(), rateForm); !ok {
		errs.Add("rate", problem.FieldInvalid, "must be a positive decimal with at most 10 digits before and after the point")
	}
}

func positive(text string, form *regexp.Regexp) (decimal.Decimal, bool) {
	if !form.MatchString(text) {
		return decimal.Decimal{}, false
	}
	d, err := decimal.NewFromString(text)
	return d, err == nil && d.IsPositive()
}
