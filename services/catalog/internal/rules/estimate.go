package rules

import (
	"fmt"

	"github.com/shopspring/decimal"
)

const moneyPlaces = 2

// Estimate converts an amount in EUR at the units of a currency for one euro, half-up to two
// decimals.
func Estimate(amountEUR, rate string) (string, error) {
	amount, err := decimal.NewFromString(amountEUR)
	if err != nil {
		return "", fmt.Errorf("amount: %w", err)
	}
	factor, err := decimal.NewFromString(rate)
	if err != nil {
		return "", fmt.Errorf("rate: %w", err)
	}
	return amount.Mul(factor).StringFixed(moneyPlaces), nil
}
