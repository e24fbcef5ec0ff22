// Package operation knows the public operations: which method and path names each, which scope it
// needs and which status its success has.
//
// Method and path come from the google.api.http annotations of the contracts; what they cannot say
// stands in the one table of this file. An operation of a contract that is missing here, or the
// other way round, is a fault New reports.
package operation

import (
	"net/http"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	personallinksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// rule is what the contract's annotations do not say of an operation.
type rule struct {
	// scope needed; unspecified: any valid key.
	scope commonv1.Scope
	// success is the status of a success; zero: 200.
	success int
	// bodyOptional lets a POST come without body and content type.
	bodyOptional bool
}

const (
	anyKey        = commonv1.Scope_SCOPE_UNSPECIFIED
	catalog       = commonv1.Scope_SCOPE_CATALOG
	orders        = commonv1.Scope_SCOPE_ORDERS
	personalLinks = commonv1.Scope_SCOPE_PERSONAL_LINKS
)

// rules has a row for every public operation (API specification, Endpoints, Summary).
func rules() map[string]rule {
	return map[string]rule{
		tenantsv1.TenantsService_GetMe_FullMethodName:                           {scope: anyKey},
		tenantsv1.TenantsService_ListBrands_FullMethodName:                      {scope: catalog},
		catalogv1.CatalogService_ListProducts_FullMethodName:                    {scope: catalog},
		catalogv1.CatalogService_GetProduct_FullMethodName:                      {scope: catalog},
		catalogv1.CatalogService_ListCategories_FullMethodName:                  {scope: catalog},
		catalogv1.CatalogService_ListCampaigns_FullMethodName:                   {scope: catalog},
		catalogv1.CatalogService_GetCampaign_FullMethodName:                     {scope: catalog},
		ordersv1.OrdersService_PlaceOrder_FullMethodName:                        {scope: orders, success: http.StatusCreated},
		ordersv1.OrdersService_ListOrders_FullMethodName:                        {scope: orders},
		ordersv1.OrdersService_GetOrder_FullMethodName:                          {scope: orders},
		ordersv1.OrdersService_UpdateDelivery_FullMethodName:                    {scope: orders},
		ordersv1.OrdersService_CancelOrder_FullMethodName:                       {scope: orders},
		ordersv1.OrdersService_ListOrderMessages_FullMethodName:                 {scope: orders},
		ordersv1.OrdersService_PostOrderMessage_FullMethodName:                  {scope: orders, success: http.StatusCreated},
		personallinksv1.PersonalLinksService_ListPersonalLinks_FullMethodName:   {scope: personalLinks},
		personallinksv1.PersonalLinksService_CreatePersonalLinks_FullMethodName: {scope: personalLinks},
		personallinksv1.PersonalLinksService_GetPersonalLink_FullMethodName:     {scope: personalLinks},
		personallinksv1.PersonalLinksService_CancelPersonalLink_FullMethodName:  {scope: personalLinks},
		eventsv1.EventsService_ListEvents_FullMethodName:                        {scope: anyKey},
		webhookv1.WebhookService_TestWebhook_FullMethodName:                     {scope: anyKey, bodyOptional: true},
	}
}
