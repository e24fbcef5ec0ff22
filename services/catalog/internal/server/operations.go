package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Operations is the operations plane: it keeps the catalog up.
type Operations struct {
	catalogv1.UnimplementedCatalogOperationsServiceServer

	store     *store.Store
	files     *images.Files
	processor    *picture.Processor
	directory tenantsv1.DirectoryServiceClient
}

// NewOperations makes the operations plane.
func NewOperations(
	st *store.Store, files *images.Files, processor *picture.Processor, directory tenantsv1.DirectoryServiceClient,
) *Operations {
	return &Operations{store: st, files: files, processor: processor, directory: directory}
}

// PutRegion sets the countries of a region.
func (o *Operations) PutRegion(ctx context.Context, req *catalogv1.PutRegionRequest) (*catalogv1.PutRegionResponse, error) {
	errs := fields.FromContext(ctx)
	region := rules.ReadRegion(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutRegionResponse{}, o.store.PutRegion(ctx, region)
}

// PutExchangeRate sets the units of a currency for one euro.
func (o *Operations) PutExchangeRate(
	ctx context.Context, req *catalogv1.PutExchangeRateRequest,
) (*catalogv1.PutExchangeRateResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckRate(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutExchangeRateResponse{}, o.store.PutExchangeRate(ctx, req.GetCurrency(), req.GetRate())
}

// PutCategory replaces a category with its subcategories.
func (o *Operations) PutCategory(
	ctx context.Context, req *catalogv1.PutCategoryRequest,
) (*catalogv1.PutCategoryResponse, error) {
	errs := fields.FromContext(ctx)
	category := rules.ReadCategory(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutCategoryResponse{}, o.store.PutCategory(ctx, category)
}
