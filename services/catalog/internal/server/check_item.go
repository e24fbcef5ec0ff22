package server

import (
	"context"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CheckItem checks whether a gift may be ordered now. It reserves nothing.
func (o *ordering) CheckItem(ctx context.Context, req *catalogv1.CheckItemRequest) (*catalogv1.CheckItemResponse, error) {
	errs := fields.FromContext(ctx)
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key := store.ItemKey{
		TenantID:      tenantID,
		ProductID:     idOrUnknown(req.GetProductId()),
		VariationsKey: rules.VariationsKey(req.GetVariations()),
	}
	if req.CampaignId != nil {
		id := idOrUnknown(req.GetCampaignId())
		key.CampaignID = &id
	}
	if country.Valid(req.GetCountry()) {
		key.Country = req.GetCountry()
	}
	facts, err := o.store.ItemFacts(ctx, key)
	if err != nil {
		return nil, err
	}
	reach := caller.Principal{AllBrands: req.GetAllBrands(), BrandIDs: req.GetBrandIds()}
	item := rules.Item{
		InCampaign:    req.CampaignId != nil,
		Reaches:       reach.Reaches,
		BrandID:       req.GetBrandId(),
		Customization: req.GetCustomization(),
		Variations:    req.GetVariations(),
	}
	if err := rules.CheckItem(item, facts); err != nil {
		return nil, err
	}
	resp := &catalogv1.CheckItemResponse{ProductName: *facts.ProductName}
	if item.InCampaign {
		resp.CampaignBrandId = *facts.CampaignBrandID
		resp.Stocked = *facts.SupplyType == rules.Stocked
	}
	return resp, nil
}

// idOrUnknown reads an id. An invalid id becomes the nil UUID, which no record has.
func idOrUnknown(id string) string {
	if parsed, ok := fields.ParseUUID(id); ok {
		return parsed
	}
	return uuid.Nil.String()
}
