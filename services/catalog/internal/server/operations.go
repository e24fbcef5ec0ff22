package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// PutRegion sets the countries of a region.
func (o *operations) PutRegion(ctx context.Context, req *catalogv1.PutRegionRequest) (*catalogv1.PutRegionResponse, error) {
	errs := caller.RequestErrors(ctx)
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
	errs := caller.RequestErrors(ctx)
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
	errs := caller.RequestErrors(ctx)
	category := rules.ReadCategory(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutCategoryResponse{}, o.Store.PutCategory(ctx, category)
}

// ListCategories returns all categories in display order. Names without a translation are in en-US.
func (c *publicCatalog) ListCategories(
	ctx context.Context, req *catalogv1.ListCategoriesRequest,
) (*catalogv1.ListCategoriesResponse, error) {
	_, tenant, err := c.settings(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	locale := rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	categories, err := c.store.Categories(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListCategoriesResponse{}
	for _, category := range categories {
		out := &catalogv1.Category{Code: category.Code, Name: category.InFirst([]string{locale})}
		for _, s := range category.Subcategories {
			out.Subcategories = append(out.Subcategories, &catalogv1.Subcategory{Code: s.Code, Name: s.InFirst([]string{locale})})
		}
		resp.Categories = append(resp.Categories, out)
	}
	return resp, nil
}

// ListRegions returns all regions. They are few, because a country belongs to at most one.
func (o *productOperations) ListRegions(
	ctx context.Context, _ *catalogv1.ListRegionsRequest,
) (*catalogv1.ListRegionsResponse, error) {
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
		resp.Rates = append(resp.Rates, &catalogv1.ExchangeRate{
			Currency: r.Currency, Rate: r.Rate, UpdatedAt: timestamppb.New(r.UpdatedAt),
		})
	}
	return resp, nil
}

// ListAudit lists the operations on a gift or a campaign, newest first.
func (o *productOperations) ListAudit(ctx context.Context, req *catalogv1.ListAuditRequest) (*catalogv1.ListAuditResponse, error) {
	errs := caller.RequestErrors(ctx)
	subject := errs.UUID("subjectId", req.GetSubjectId())
	bind := page.Bind("catalog/audit", subject)
	after := page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := o.store.Audit(ctx, subject, after, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := page.Cut(found, limit, bind, func(last store.AuditEntry) page.Position {
		return page.Position{Time: last.At, ID: last.ID}
	})
	resp := &catalogv1.ListAuditResponse{NextCursor: next}
	for _, e := range found {
		resp.Entries = append(resp.Entries, &catalogv1.AuditEntry{
			Id: e.ID, At: timestamppb.New(e.At), Action: e.Action, Detail: e.Detail,
			Actor: &commonv1.Actor{Kind: enum[commonv1.ActorKind](e.Actor.Kind), Id: e.Actor.ID},
		})
	}
	return resp, nil
}

// CheckCurrency says whether gifts have estimates in a currency.
func (c *currencies) CheckCurrency(
	ctx context.Context, req *catalogv1.CheckCurrencyRequest,
) (*catalogv1.CheckCurrencyResponse, error) {
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
