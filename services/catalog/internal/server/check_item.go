package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/country"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// unknownID is no record's id: ids of records are never the nil UUID.
const unknownID = "00000000-0000-0000-0000-000000000000"

// CheckItem says whether a gift may be ordered now. It reserves nothing.
func (o *Ordering) CheckItem(ctx context.Context, req *catalogv1.CheckItemRequest) (*catalogv1.CheckItemResponse, error) {
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

// idOrUnknown makes an id that is no UUID one that names nothing, as the caller means it.
func idOrUnknown(id string) string {
	if parsed, ok := fields.ParseUUID(id); ok {
		return parsed
	}
	return unknownID
}
