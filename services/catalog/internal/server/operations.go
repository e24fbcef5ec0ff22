package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// PutRegion sets the countries of a region.
func (o *operations) PutRegion(ctx context.Context, req *catalogv1.PutRegionRequest) (*catalogv1.PutRegionResponse, error) {
	errs := fields.FromContext(ctx)
	region := rules.ReadRegion(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutRegionResponse{}, o.Store.PutRegion(ctx, region)
}

// PutExchangeRate sets the units of a currency for one euro.
func (o *operations) PutExchangeRate(
	ctx context.Context, req *catalogv1.PutExchangeRateRequest,
) (*catalogv1.PutExchangeRateResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckRate(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutExchangeRateResponse{}, o.Store.PutExchangeRate(ctx, req.GetCurrency(), req.GetRate())
}

// PutCategory replaces a category with its subcategories.
func (o *operations) PutCategory(
	ctx context.Context, req *catalogv1.PutCategoryRequest,
) (*catalogv1.PutCategoryResponse, error) {
	errs := fields.FromContext(ctx)
	category := rules.ReadCategory(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutCategoryResponse{}, o.Store.PutCategory(ctx, category)
}
