package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// CheckClaim finds every error in the order of a claim. Ids are rewritten in lower case.
func CheckClaim(req *ordersv1.PlaceClaimedOrderRequest) error {
	errs := &fields.Errors{}
	req.PersonalLinkId = errs.UUID("personalLinkId", req.GetPersonalLinkId())
	req.BrandId = errs.UUID("brandId", req.GetBrandId())
	req.ProductId = errs.UUID("productId", req.GetProductId())
	req.CampaignId = errs.OptionalUUID("campaignId", req.CampaignId)
	req.ManagerId = errs.OptionalUUID("managerId", req.ManagerId)
	CheckRecipient(req.GetRecipient(), errs)
	return errs.Err()
}

// ClaimPlacement is the placement of a claim that has been checked.
func ClaimPlacement(req *ordersv1.PlaceClaimedOrderRequest) Placement {
	return Placement{
		Request: &ordersv1.PlaceOrderRequest{
			ExternalRecipientId: req.ExternalRecipientId,
			CampaignId:          req.CampaignId,
			Items:               []*ordersv1.OrderItemInput{{ProductId: &req.ProductId, Variations: req.GetVariations()}},
			Client:              req.GetClient(),
			Recipient:           req.GetRecipient(),
		},
		TenantID:       req.GetTenantId(),
		OrderID:        req.GetOrderId(),
		ChosenID:       true,
		Source:         ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK,
		BrandID:        req.GetBrandId(),
		Answers:        CustomAnswers(req.GetCustomFields()),
		ManagerID:      req.ManagerId,
		PersonalLinkID: &req.PersonalLinkId,
	}
}
