package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// PutRegion sets the countries of a region.
func (s *service) PutRegion(ctx context.Context, req *catalogv1.PutRegionRequest) (*catalogv1.PutRegionResponse, error) {
	if err := s.changesGifts(); err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	region := rules.ReadRegion(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutRegionResponse{}, s.Store.PutRegion(ctx, region)
}

// PutExchangeRate sets the units of a currency for one euro.
func (s *service) PutExchangeRate(
	ctx context.Context, req *catalogv1.PutExchangeRateRequest,
) (*catalogv1.PutExchangeRateResponse, error) {
	if err := s.changesGifts(); err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckRate(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutExchangeRateResponse{}, s.Store.PutExchangeRate(ctx, req.GetCurrency(), req.GetRate())
}

// PutCategory replaces a category with its subcategories.
func (s *service) PutCategory(
	ctx context.Context, req *catalogv1.PutCategoryRequest,
) (*catalogv1.PutCategoryResponse, error) {
	if err := s.changesGifts(); err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	category := rules.ReadCategory(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return &catalogv1.PutCategoryResponse{}, s.Store.PutCategory(ctx, category)
}

// ListCategories returns all categories in display order. Names without a translation are in en-US.
func (s *service) ListCategories(
	ctx context.Context, req *catalogv1.ListCategoriesRequest,
) (*catalogv1.ListCategoriesResponse, error) {
	_, tenant, err := s.keyAndTenant(ctx)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	locale := rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	categories, err := s.Store.Categories(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListCategoriesResponse{}
	for _, category := range categories {
		out := &catalogv1.Category{Code: category.Code, Name: category.InFirst([]string{locale})}
		for _, sub := range category.Subcategories {
			out.Subcategories = append(out.Subcategories, &catalogv1.Subcategory{Code: sub.Code, Name: sub.InFirst([]string{locale})})
		}
		resp.Categories = append(resp.Categories, out)
	}
	return resp, nil
}

// ListRegions returns all regions. They are few, because a country belongs to at most one.
func (s *service) ListRegions(
	ctx context.Context, _ *catalogv1.ListRegionsRequest,
) (*catalogv1.ListRegionsResponse, error) {
	regions, err := s.Store.Regions(ctx)
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
func (s *service) ListExchangeRates(
	ctx context.Context, _ *catalogv1.ListExchangeRatesRequest,
) (*catalogv1.ListExchangeRatesResponse, error) {
	rates, err := s.Store.Rates(ctx)
	return &catalogv1.ListExchangeRatesResponse{Rates: rates}, err
}

// ListAudit lists the operations on a gift or a campaign, newest first.
func (s *service) ListAudit(ctx context.Context, req *catalogv1.ListAuditRequest) (*catalogv1.ListAuditResponse, error) {
	errs := caller.RequestErrors(ctx)
	subject := errs.UUID("subjectId", req.GetSubjectId())
	bind := page.Bind("catalog/audit", subject)
	after := page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := s.Store.Audit(ctx, subject, after, limit+1)
	if err != nil {
		return nil, err
	}
	entries, next := page.Cut(found, limit, bind, func(last *catalogv1.AuditEntry) page.Position {
		return page.Position{Time: last.GetAt().AsTime(), ID: last.GetId()}
	})
	return &catalogv1.ListAuditResponse{Entries: entries, NextCursor: next}, nil
}

// CheckCurrency says whether gifts have estimates in a currency.
func (s *service) CheckCurrency(
	ctx context.Context, req *catalogv1.CheckCurrencyRequest,
) (*catalogv1.CheckCurrencyResponse, error) {
	if req.GetCurrency() == rules.EUR {
		return &catalogv1.CheckCurrencyResponse{Priced: true}, nil
	}
	rates, err := s.Store.Rates(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.CheckCurrencyResponse{}
	for _, rate := range rates {
		resp.Priced = resp.GetPriced() || rate.GetCurrency() == req.GetCurrency()
	}
	return resp, nil
}
