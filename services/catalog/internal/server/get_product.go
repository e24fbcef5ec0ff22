package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// GetProduct returns a listed gift.
func (c *publicCatalog) GetProduct(ctx context.Context, req *catalogv1.GetProductRequest) (*catalogv1.GetProductResponse, error) {
	principal, tenant, err := c.settings(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckCountry(req.GetCountry(), errs)
	view := store.View{
		TenantID: principal.TenantID,
		Country:  req.GetCountry(),
		Locale:   rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs),
		Currency: tenant.GetCurrency(),
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	id, ok := fields.ParseUUID(req.GetProductId())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	e, found, err := c.store.Entry(ctx, view, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	product, err := c.present.product(e, view.Currency)
	if err != nil {
		return nil, err
	}
	return &catalogv1.GetProductResponse{Product: product}, nil
}
