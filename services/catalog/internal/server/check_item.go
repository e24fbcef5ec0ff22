package server

import (
	"context"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// CheckItem checks whether a gift may be ordered now. It reserves nothing.
func (o *ordering) CheckItem(ctx context.Context, req *catalogv1.CheckItemRequest) (*catalogv1.CheckItemResponse, error) {
	item, facts, err := o.readItem(ctx, req, "")
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

// readItem reads a requested item and its records. within is the path of the request in the message of the call.
func (o *ordering) readItem(
	ctx context.Context, req *catalogv1.CheckItemRequest, within string,
) (item rules.Item, facts rules.ItemFacts, err error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.UUID(within+"tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return item, facts, err
	}
	key := store.ItemKey{
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
	facts, err = o.store.ItemFacts(ctx, key)
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
