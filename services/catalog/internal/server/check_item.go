package server

import (
	"context"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CheckItem checks whether a gift may be ordered now. It reserves nothing.
func (s *service) CheckItem(ctx context.Context, req *catalogv1.CheckItemRequest) (*catalogv1.CheckItemResponse, error) {
	item, facts, err := s.readItem(ctx, req, "")
	if err != nil {
		return nil, err
	}
	if found := rules.CheckItem(item, facts); len(found) > 0 {
		return nil, found[0]
	}
	resp := &catalogv1.CheckItemResponse{ProductName: *facts.ProductName}
	if item.InCampaign {
		resp.CampaignBrandId = *facts.CampaignBrandID
		resp.Stocked = *facts.SupplyType == rules.Stocked
	}
	return resp, nil
}

// readItem reads a requested item and its records. prefix is what precedes the fields of req in the request of the caller.
func (s *service) readItem(
	ctx context.Context, req *catalogv1.CheckItemRequest, prefix string,
) (item rules.Item, facts rules.ItemFacts, err error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.UUID(prefix+"tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return item, facts, err
	}
	key := store.ItemQuery{
		TenantID:      tenantID,
		ProductID:     idOrUnknown(req.GetProductId()),
		Country:       countryOrNone(req.GetCountry()),
		VariationsKey: rules.VariationsKey(req.GetVariations()),
	}
	if req.CampaignId != nil {
		id := idOrUnknown(req.GetCampaignId())
		key.CampaignID = &id
	}
	reach := caller.Principal{AllBrands: req.GetAllBrands(), BrandIDs: req.GetBrandIds()}
	item = rules.Item{
		InCampaign:    req.CampaignId != nil,
		Reaches:       reach.Reaches,
		BrandID:       req.GetBrandId(),
		Customization: req.GetCustomization(),
		Variations:    req.GetVariations(),
	}
	facts, err = s.Store.ItemFacts(ctx, key)
	return item, facts, err
}

// idOrUnknown reads an id. An invalid id becomes the nil UUID, which no record has.
func idOrUnknown(id string) string {
	if parsed, ok := fields.ParseUUID(id); ok {
		return parsed
	}
	return uuid.Nil.String()
}

// countryOrNone is the country, or empty if there is no such country.
func countryOrNone(code string) string {
	if fields.IsCountry(code) {
		return code
	}
	return ""
}

// PreviewItem reports every problem that an order of the gift would have now, and its estimate. It reserves nothing.
func (s *service) PreviewItem(ctx context.Context, req *catalogv1.PreviewItemRequest) (*catalogv1.PreviewItemResponse, error) {
	item, facts, err := s.readItem(ctx, req.GetItem(), "item.")
	if err != nil {
		return nil, err
	}
	found := rules.CheckItem(item, facts)
	if item.SoldOut(facts) {
		found = append(found, rules.OutOfStock())
	}
	resp := &catalogv1.PreviewItemResponse{}
	for _, p := range found {
		resp.Problems = append(resp.Problems, itemProblem(p))
	}
	view := store.View{
		TenantID: req.GetItem().GetTenantId(), Country: countryOrNone(req.GetItem().GetCountry()),
		Locale: rules.BaseLocale, Currency: req.GetCurrency(),
	}
	entry, listed, err := s.Store.Entry(ctx, view, idOrUnknown(req.GetItem().GetProductId()))
	if err != nil || !listed {
		return resp, err
	}
	product, err := s.present.product(entry, view.Currency)
	if err != nil {
		return nil, err
	}
	resp.Estimate, resp.EstimateEur = product.GetEstimate(), product.GetEstimateEur()
	return resp, nil
}

func itemProblem(p *problem.Error) *catalogv1.ItemProblem {
	out := &catalogv1.ItemProblem{Code: string(p.Code), Detail: p.Detail}
	for _, v := range p.Violations {
		out.Violations = append(out.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	return out
}
