package server

import (
	"context"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CheckCurrency says whether gifts have estimates in a currency.
func (c *currencies) CheckCurrency(ctx context.Context, req *catalogv1.CheckCurrencyRequest) (*catalogv1.CheckCurrencyResponse, error) {
	if req.GetCurrency() == rules.EUR {
		return &catalogv1.CheckCurrencyResponse{Priced: true}, nil
	}
	rates, err := c.store.Rates(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.CheckCurrencyResponse{}
	for _, rate := range rates {
		resp.Priced = resp.GetPriced() || rate.Currency == req.GetCurrency()
	}
	return resp, nil
}

// currencies serves the service for tenants.
type currencies struct {
	catalogv1.UnimplementedCurrenciesServiceServer

	store *store.Store
}
