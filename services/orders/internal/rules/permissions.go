package rules

import (
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	administrator = tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR
	coordinator   = tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR
)

// permissions has an entry for every operation of OrderOperationsService. The tenants service decides who may erase and export.
var permissions = map[ordersv1.Operation]caller.Permission{
	ordersv1.Operation_OPERATION_APPROVE:           {Team: []tenantsv1.TeamRole{administrator, coordinator}},
	ordersv1.Operation_OPERATION_DISPATCH:          {Operator: true, System: true},
	ordersv1.Operation_OPERATION_DELIVER:           {Operator: true, System: true},
	ordersv1.Operation_OPERATION_CANCEL:            {Team: caller.EveryTeamRole(), Operator: true},
	ordersv1.Operation_OPERATION_CORRECT_STATUS:    {Operator: true},
	ordersv1.Operation_OPERATION_CORRECT_TRACKING:  {Operator: true, System: true},
	ordersv1.Operation_OPERATION_CORRECT_DELIVERY:  {Team: caller.EveryTeamRole(), Operator: true},
	ordersv1.Operation_OPERATION_PLACE:             {Team: caller.EveryTeamRole(), Operator: true},
	ordersv1.Operation_OPERATION_POST_MESSAGE:      {Team: caller.EveryTeamRole(), Client: true, Operator: true, System: true},
	ordersv1.Operation_OPERATION_ADD_NOTE:          {Operator: true, System: true},
	ordersv1.Operation_OPERATION_LIST_CONVERSATION: {Team: caller.EveryTeamRole(), Client: true, Operator: true},
	ordersv1.Operation_OPERATION_READ:              {Team: caller.EveryTeamRole(), Operator: true},
	ordersv1.Operation_OPERATION_SEARCH:            {Team: caller.EveryTeamRole(), Operator: true, Lists: true},
	ordersv1.Operation_OPERATION_LIST_AUDIT:        {Team: []tenantsv1.TeamRole{administrator}, Operator: true},
}

// PermissionOf returns the permission of an operation. An operation that is not in the table is forbidden for all actors.
func PermissionOf(op ordersv1.Operation) caller.Permission { return permissions[op] }

// Audit is an accepted operation, for its row in the audit.
type Audit struct {
	TenantID string
	// OrderID is empty for a search.
	OrderID   string
	Actor     *commonv1.Actor
	Operation ordersv1.Operation
}

// CheckClaim finds every error in the order of a claim. Ids are rewritten in lower case.
func CheckClaim(req *ordersv1.PlaceClaimedOrderRequest) error {
	errs := &fields.Errors{}
	req.BrandId = errs.UUID("brandId", req.GetBrandId())
	req.ProductId = errs.UUID("productId", req.GetProductId())
	req.CampaignId = errs.OptionalUUID("campaignId", req.CampaignId)
	req.ManagerId = errs.OptionalUUID("managerId", req.ManagerId)
	CheckRecipient(req.GetRecipient(), errs)
	errs.Text("courierComment", req.GetCourierComment(), maxCourierComment)
	errs.Text("customization.details", req.GetCustomization().GetDetails(), maxCustomization)
	if fields.Blank(req.GetCustomization().GetDetails()) {
		req.Customization = nil
	}
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
			CourierComment:      fields.Optional(req.CourierComment),
			Customization:       req.GetCustomization(),
		},
		TenantID:       req.GetTenantId(),
		OrderID:        req.GetOrderId(),
		CallerChoseID:  true,
		Source:         ordersv1.OrderSource_ORDER_SOURCE_PERSONAL_LINK,
		BrandID:        req.GetBrandId(),
		Answers:        CustomAnswers(req.GetCustomFields()),
		ManagerID:      req.ManagerId,
		PersonalLinkID: &req.PersonalLinkId,
	}
}
