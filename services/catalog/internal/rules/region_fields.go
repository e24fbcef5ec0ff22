package rules

import (
	"regexp"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Region is where a price holds.
type Region struct {
	Code string
	// Countries in alphabetical order.
	Countries []string
}

// ReadRegion validates a region.
func ReadRegion(req *catalogv1.PutRegionRequest, errs *fields.Errors) Region {
	code("code", req.GetCode(), regionCode, errs)
	return Region{Code: req.GetCode(), Countries: ReadCountries("countries", req.GetCountries(), errs)}
}

// Move is a change of the region a country belongs to; empty: none.
type Move struct{ From, To string }

// Moves are the changes of countries from their regions now to the region put, each once. now has the
// region of every country that is or will be in the region.
func (r Region) Moves(now map[string]string) []Move {
	seen := map[Move]struct{}{}
	for _, c := range r.Countries {
		if now[c] != r.Code {
			seen[Move{From: now[c], To: r.Code}] = struct{}{}
		}
	}
	for c, region := range now {
		if region == r.Code && !r.has(c) {
			seen[Move{From: r.Code}] = struct{}{}
		}
	}
	moves := make([]Move, 0, len(seen))
	for m := range seen {
		moves = append(moves, m)
	}
	return moves
}

func (r Region) has(country string) bool {
	_, found := slices.BinarySearch(r.Countries, country)
	return found
}

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
