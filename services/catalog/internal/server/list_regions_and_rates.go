package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// ListRegions returns all regions. They are few, because a country belongs to one at most.
func (o *productOperations) ListRegions(ctx context.Context, _ *catalogv1.ListRegionsRequest) (*catalogv1.ListRegionsResponse, error) {
	regions, err := o.store.Regions(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListRegionsResponse{}
	for _, r := range regions {
		resp.Regions = append(resp.Regions, &catalogv1.PutRegionRequest{Code: r.Code, Countries: r.Countries})
	}
	return resp, nil
}

// ListExchangeRates returns all rates, at most one per currency.
func (o *productOperations) ListExchangeRates(
	ctx context.Context, _ *catalogv1.ListExchangeRatesRequest,
) (*catalogv1.ListExchangeRatesResponse, error) {
	rates, err := o.store.Rates(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListExchangeRatesResponse{}
	for _, r := range rates {
		resp.Rates = append(resp.Rates, &catalogv1.ExchangeRate{Currency: r.Currency, Rate: r.Rate, UpdatedAt: timestamppb.New(r.UpdatedAt)})
	}
	return resp, nil
}
