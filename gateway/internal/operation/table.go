// Package operation is the table of the public operations: the method and path of each, the scope it needs and the status of its
// success.
//
// Method and path come from the google.api.http annotations of the contracts. The table in this file adds what they do not say.
// New returns an error if the contracts and the table do not have the same operations.
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

// rule is what the annotations of a contract do not say about an operation.
type rule struct {
	// scope is the required scope; unspecified: any valid key.
	scope commonv1.Scope
	// success is the status of a successful response; zero: 200.
	success int
	// bodyOptional allows a POST without body and content type.
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
