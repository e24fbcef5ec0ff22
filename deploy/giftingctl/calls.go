package giftingctl

import (
	"cmp"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	personallinksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// call is a command that makes one kind of call.
type call struct {
	// use are the words of the command: the things that it is about, then the verb.
	use string
	// method is the full name of the RPC.
	method string
	short  string
	// args are the fields that are arguments, in order.
	args []string
	// flatten is the message whose fields have flags without its name as prefix.
	flatten string
	// generatedID is the field of an id that the caller chooses. Without one a new id is made.
	generatedID string
	// required must be on the command line, unless the request is read from a file.
	required []string
	// flags are the names of flags that do not have the name of their field.
	flags map[string]string
	// omit are fields that this command does not set.
	omit []string
	// readOnly marks a call that changes nothing.
	readOnly bool
	// columns are the fields that the table of a list shows; empty: all of an entry.
	columns []string
	// showOnce says what only this response shows.
	showOnce string
	// secretURL is the field of a URL, of which a dry run shows the host only.
	secretURL string
	// document is the field of the response that goes to a file.
	document string
	// text is the field of the response that is printed as it is, or goes to a file.
	text string
}

// requestFields are the fields of the request, with the names of their flags.
func (c call) requestFields() []*field {
	fields := fieldsOf(method(c.method).Input(), c.flatten)
	for _, f := range fields {
		f.name = cmp.Or(c.flags[f.key], f.name)
	}
	return fields
}

// about describes the groups of commands.
var about = map[string]string{
	"tenants": "Tenants and their settings", "brands": "Brands of a tenant", "team": "The team of a tenant",
	"cells":  "Cells, each of which has the records of some tenants",
	"fields": "Order fields of a tenant", "keys": "API keys and their webhooks", "people": "Personal data, on request of a person",
	"offboarding": "The end of a tenant", "catalog": "Import of gifts, and the audit of the catalog",
	"regions": "Regions, which share a price", "rates": "Exchange rates", "categories": "Categories of gifts",
	"products": "Gifts", "images": "Images of gifts",
	"campaigns": "Campaigns of a tenant", "offerings": "What a campaign offers", "stock": "The stock of a campaign",
	"orders": "Orders, step by step", "links": "Personal links", "events": "The event feed", "webhook": "Deliveries of webhooks",
}

// calls has a row for each command that makes one kind of call.
var calls = []call{
	{
		use: "tenants put", method: tenantsv1.TenantOperationsService_PutTenant_FullMethodName,
		short: "Create a tenant or replace its settings",
		args:  []string{"id"}, generatedID: "id", required: []string{"name", "currency", "api_access"},
	},
	{
		use: "tenants list", method: tenantsv1.TenantOperationsService_ListTenants_FullMethodName,
		short:    "List all tenants, newest first",
		readOnly: true, columns: []string{"tenant.id", "tenant.name", "api_access", "offboarding", "created_at"},
	},
	{
		use: "tenants get", method: tenantsv1.TenantOperationsService_GetTenant_FullMethodName,
		short: "Show a tenant with its brands, team and order fields", readOnly: true,
	},
	{
		use: "tenants audit", method: tenantsv1.TenantOperationsService_ListTenantAudit_FullMethodName,
		short: "List what was done with a tenant, newest first", readOnly: true,
	},
	{
		use: "tenants move", method: tenantsv1.CellOperationsService_MoveTenant_FullMethodName,
		short:    "Move a tenant to another cell while it works",
		required: []string{"to"}, flags: map[string]string{"dry_run": "check"},
	},
	{
		use: "tenants show-move", method: tenantsv1.CellOperationsService_GetTenantMove_FullMethodName,
		short: "Show how far the newest move of a tenant is", readOnly: true,
	},
	{
		use: "tenants cancel-move", method: tenantsv1.CellOperationsService_CancelTenantMove_FullMethodName,
		short: "End a move and leave the tenant where it is",
	},
	{
		use: "cells add", method: tenantsv1.CellOperationsService_PutCell_FullMethodName,
		short:   "Add a cell or replace its addresses and room",
		flatten: "cell", args: []string{"cell.letter"}, required: []string{"open"},
	},
	{
		use: "cells drain", method: tenantsv1.CellOperationsService_DrainCell_FullMethodName,
		short: "Close a cell: no tenant begins in it or moves to it", args: []string{"letter"},
	},
	{
		use: "cells list", method: tenantsv1.CellOperationsService_ListCellRecords_FullMethodName,
		short: "List the cells with the number of their tenants", readOnly: true,
		columns: []string{"cell.letter", "open", "room", "tenants"},
	},
	{
		use: "brands put", method: tenantsv1.TenantOperationsService_PutBrand_FullMethodName, short: "Create or replace a brand",
		flatten: "brand", args: []string{"brand.id"}, generatedID: "brand.id", required: []string{"brand.name", "brand.slug"},
	},
	{
		use: "brands upload-logo", method: catalogv1.BrandLogosService_UploadBrandLogo_FullMethodName,
		short: "Store a logo; set its URL with brands put, or its id with brands put-gift-site",
		args:  []string{"brand_id", "content"},
	},
	{
		use: "brands upload-hero", method: catalogv1.BrandLogosService_UploadBrandHero_FullMethodName,
		short: "Store the picture above the greeting, or of its sender; set its id with brands put-gift-site",
		args:  []string{"brand_id", "content"},
	},
	{
		use: "brands put-gift-site", method: tenantsv1.TenantOperationsService_PutGiftSite_FullMethodName,
		short: "Replace links, theme, sender and delivery times of a brand's gift site", flatten: "site",
		args: []string{"brand_id"},
	},
	{
		use: "team put", method: tenantsv1.TenantOperationsService_PutTeamMember_FullMethodName,
		short: "Create or replace a member of the team", flatten: "member", args: []string{"member.id"}, generatedID: "member.id",
		required: []string{"member.name", "member.email", "member.role", "member.active"},
	},
	{
		use: "fields put", method: tenantsv1.TenantOperationsService_PutCustomField_FullMethodName,
		short:   "Create or replace an order field",
		flatten: "field", args: []string{"field.id"}, generatedID: "field.id", required: []string{"field.label", "field.type"},
	},
	{
		use: "keys create", method: tenantsv1.TenantOperationsService_CreateKey_FullMethodName, short: "Create an API key",
		required: []string{"name", "scopes"}, showOnce: "the API key and its signing secret",
	},
	{
		use: "keys update", method: tenantsv1.TenantOperationsService_UpdateKey_FullMethodName,
		short: "Replace name, scopes and brands of a key", args: []string{"key_id"}, required: []string{"name", "scopes"},
	},
	{
		use: "keys revoke", method: tenantsv1.TenantOperationsService_RevokeKey_FullMethodName, short: "Revoke a key",
		args: []string{"key_id"},
	},
	{
		use: "keys set-webhook-url", method: tenantsv1.TenantOperationsService_SetWebhookUrl_FullMethodName,
		short: "Set where webhooks of a key go", args: []string{"key_id", "url"}, secretURL: "url",
	},
	{
		use: "keys remove-webhook-url", method: tenantsv1.TenantOperationsService_SetWebhookUrl_FullMethodName,
		short: "Stop the webhooks of a key", args: []string{"key_id"}, omit: []string{"url"},
	},
	{
		use: "keys rotate-webhook-secret", method: tenantsv1.TenantOperationsService_RotateWebhookSecret_FullMethodName,
		short: "Make a new signing secret", args: []string{"key_id"}, showOnce: "the signing secret", generatedID: "request_id",
	},
	{
		use: "keys list", method: tenantsv1.TenantOperationsService_ListKeys_FullMethodName,
		short:    "List the keys of a tenant, newest first",
		readOnly: true, columns: []string{"key.id", "key.name", "key.prefix", "key.scopes", "webhook_host", "created_at", "revoked_at"},
	},
	{
		use: "keys audit", method: tenantsv1.TenantOperationsService_ListKeyAudit_FullMethodName,
		short: "List what was done with keys, newest first", readOnly: true,
	},

	{
		use: "people erase", method: tenantsv1.PrivacyOperationsService_ErasePerson_FullMethodName,
		short: "Erase the personal data of a person", generatedID: "request_id",
	},
	{
		use: "people export", method: tenantsv1.PrivacyOperationsService_ExportPerson_FullMethodName,
		short: "Write all that is stored of a person to a file", readOnly: true, document: "document",
	},
	{
		use: "offboarding start", method: tenantsv1.OffboardingOperationsService_OffboardTenant_FullMethodName,
		short: "Disable a tenant and schedule its erasure",
	},
	{
		use: "offboarding cancel", method: tenantsv1.OffboardingOperationsService_CancelOffboarding_FullMethodName,
		short: "Give the tenant its access back",
	},
	{
		use: "offboarding show", method: tenantsv1.OffboardingOperationsService_GetOffboarding_FullMethodName,
		short: "Show the off-boarding of a tenant with its report", readOnly: true,
	},
	{
		use: "offboarding export", method: tenantsv1.OffboardingOperationsService_ExportTenant_FullMethodName,
		short: "Write what a tenant may see of its data to a file", readOnly: true, document: "lines",
	},

	{
		use: "regions put", method: catalogv1.CatalogOperationsService_PutRegion_FullMethodName, short: "Create or replace a region",
		args: []string{"code"}, required: []string{"countries"},
	},
	{
		use: "regions list", method: catalogv1.ProductOperationsService_ListRegions_FullMethodName,
		short: "List the regions with their countries", readOnly: true,
	},
	{
		use: "rates put", method: catalogv1.CatalogOperationsService_PutExchangeRate_FullMethodName, short: "Set the rate of a currency",
		args: []string{"currency", "rate"},
	},
	{
		use: "rates list", method: catalogv1.ProductOperationsService_ListExchangeRates_FullMethodName, short: "List the rates",
		readOnly: true,
	},
	{
		use: "categories put", method: catalogv1.CatalogOperationsService_PutCategory_FullMethodName,
		short: "Create or replace a category",
	},
	{
		use: "products put", method: catalogv1.CatalogOperationsService_PutProduct_FullMethodName, short: "Create or replace a gift",
		args: []string{"id"}, generatedID: "id", required: []string{"name", "state"},
	},
	{
		use: "products get", method: catalogv1.ProductOperationsService_GetProductRecord_FullMethodName,
		short: "Show a gift with all its data", args: []string{"product_id"}, readOnly: true,
	},
	{
		use: "products list", method: catalogv1.ProductOperationsService_ListProductRecords_FullMethodName, short: "List gifts, by id",
		readOnly: true, columns: []string{"product.id", "product.state", "product.name", "updated_at"},
	},
	{
		use: "products set-state", method: catalogv1.ProductOperationsService_SetProductState_FullMethodName,
		short: "Publish a gift, unpublish it or archive it", args: []string{"product_id", "state"},
	},
	{
		use: "products set-prices", method: catalogv1.ProductOperationsService_SetProductPrices_FullMethodName,
		short: "Replace the prices of all regions", args: []string{"product_id"},
	},
	{
		use: "products set-availability", method: catalogv1.ProductOperationsService_SetProductAvailability_FullMethodName,
		short: "Replace the countries to which a gift can be sent", args: []string{"product_id"},
	},
	{
		use: "products set-translations", method: catalogv1.ProductOperationsService_SetProductTranslations_FullMethodName,
		short: "Replace the texts of all locales", args: []string{"product_id"},
	},
	{
		use: "images upload", method: catalogv1.CatalogOperationsService_UploadImage_FullMethodName, short: "Store an image of a gift",
		args: []string{"content"},
	},
	{
		use: "catalog audit", method: catalogv1.ProductOperationsService_ListAudit_FullMethodName,
		short: "List the operations on a gift, a campaign or its stock, newest first", args: []string{"subject_id"}, readOnly: true,
	},
	{
		use: "campaigns put", method: catalogv1.CatalogOperationsService_PutCampaign_FullMethodName,
		short: "Create or replace a campaign", args: []string{"id"}, generatedID: "id", required: []string{"name", "brand_id", "status"},
	},
	{
		use: "campaigns get", method: catalogv1.CampaignOperationsService_GetCampaignRecord_FullMethodName,
		short: "Show a campaign with its offerings and stock", args: []string{"campaign_id"}, readOnly: true,
	},
	{
		use: "campaigns list", method: catalogv1.CampaignOperationsService_ListCampaignRecords_FullMethodName,
		short:    "List campaigns, newest first",
		readOnly: true, columns: []string{"id", "brand_id", "name", "status", "expires_at", "created_at"},
	},
	{
		use: "campaigns start", method: catalogv1.CampaignOperationsService_StartCampaign_FullMethodName,
		short: "Open a campaign for orders", args: []string{"campaign_id"},
	},
	{
		use: "campaigns complete", method: catalogv1.CampaignOperationsService_CompleteCampaign_FullMethodName,
		short: "Close a campaign for orders", args: []string{"campaign_id"},
	},
	{
		use: "campaigns set-greetings", method: catalogv1.CampaignOperationsService_SetCampaignGreetings_FullMethodName,
		short: "Replace what the gift site says above the gifts", args: []string{"campaign_id"},
	},
	{
		use: "offerings put", method: catalogv1.CampaignOperationsService_PutOffering_FullMethodName, short: "Add or replace an offering",
		flatten: "offering", args: []string{"campaign_id", "offering.product_id"},
	},
	{
		use: "offerings remove", method: catalogv1.CampaignOperationsService_RemoveOffering_FullMethodName, short: "Stop offering a gift",
		args: []string{"campaign_id", "product_id"},
	},
	{
		use: "offerings resume", method: catalogv1.CampaignOperationsService_ResumeOffering_FullMethodName,
		short: "Offer a gift again after its review", args: []string{"campaign_id", "product_id"},
	},
	{
		use: "stock correct", method: catalogv1.CampaignOperationsService_CorrectStock_FullMethodName, short: "Change the stock of a SKU",
		args: []string{"campaign_id", "sku_id"}, generatedID: "correction_id", required: []string{"reason"},
	},

	{
		use: "orders place", method: ordersv1.OrderOperationsService_PlaceOrderAs_FullMethodName, short: "Place an order",
		flatten: "order", omit: []string{"order.external_order_id"}, generatedID: "order_id",
		required: []string{"order.items", "order.client.name", "order.recipient.name", "order.recipient.phone"},
	},
	{
		use: "orders approve", method: ordersv1.OrderOperationsService_ApproveOrder_FullMethodName,
		short: "Approve an order that was requested", args: []string{"order_id"},
	},
	{
		use: "orders dispatch", method: ordersv1.OrderOperationsService_DispatchOrder_FullMethodName,
		short: "Dispatch an order with its shipment", flatten: "shipment", args: []string{"order_id"},
		required: []string{"shipment.carrier", "shipment.tracking_reference", "shipment.tracking_url"},
	},
	{
		use: "orders deliver", method: ordersv1.OrderOperationsService_DeliverOrder_FullMethodName, short: "Mark an order as delivered",
		args: []string{"order_id"},
	},
	{
		use: "orders cancel", method: ordersv1.OrderOperationsService_CancelOrderAs_FullMethodName, short: "Cancel an order",
		args: []string{"order_id"}, required: []string{"reason"},
	},
	{
		use: "orders correct", method: ordersv1.OrderOperationsService_CorrectDelivery_FullMethodName,
		short: "Correct the delivery details", args: []string{"order_id"},
	},
	{
		use: "orders correct-status", method: ordersv1.OrderOperationsService_CorrectStatus_FullMethodName,
		short: "Change the status to any other", args: []string{"order_id", "status"},
	},
	{
		use: "orders correct-tracking", method: ordersv1.OrderOperationsService_CorrectTracking_FullMethodName,
		short: "Replace the shipment", flatten: "shipment", args: []string{"order_id"},
		required: []string{"shipment.carrier", "shipment.tracking_reference", "shipment.tracking_url"},
	},
	{
		use: "orders message", method: ordersv1.OrderOperationsService_PostMessageAs_FullMethodName,
		short: "Post a message that everybody who sees the order can read", args: []string{"order_id", "body"}, generatedID: "message_id",
	},
	{
		use: "orders note", method: ordersv1.OrderOperationsService_AddInternalNote_FullMethodName,
		short: "Add a note that only the operator can read", args: []string{"order_id", "body"}, generatedID: "message_id",
	},
	{
		use: "orders conversation", method: ordersv1.OrderOperationsService_ListConversation_FullMethodName,
		short: "List the messages, oldest first", args: []string{"order_id"}, readOnly: true,
	},
	{
		use: "orders get", method: ordersv1.OrderOperationsService_ReadOrder_FullMethodName,
		short: "Show an order with its delivery details", args: []string{"order_id"}, readOnly: true,
	},
	{
		use: "orders search", method: ordersv1.OrderOperationsService_SearchOrders_FullMethodName, short: "Search orders, newest first",
		readOnly: true, columns: []string{"order.id", "order.reference", "order.status", "order.external_order_id", "order.created_at"},
	},
	{
		use: "orders audit", method: ordersv1.OrderOperationsService_ListAudit_FullMethodName,
		short: "List who did what with an order, oldest first", args: []string{"order_id"}, readOnly: true,
	},

	{
		use: "links approve", method: personallinksv1.PersonalLinkOperationsService_ApprovePersonalLink_FullMethodName,
		short: "Approve a link", args: []string{"link_id"},
	},
	{
		use: "links approve-batch", method: personallinksv1.PersonalLinkOperationsService_ApprovePersonalLinkBatch_FullMethodName,
		short: "Approve all links of a batch that wait", args: []string{"batch_id"},
	},
	{
		use: "links cancel", method: personallinksv1.PersonalLinkOperationsService_CancelPersonalLinkAs_FullMethodName,
		short: "Cancel a link", args: []string{"link_id"}, required: []string{"reason"},
	},
	{
		use: "links get", method: personallinksv1.PersonalLinkOperationsService_ReadPersonalLink_FullMethodName, short: "Show a link",
		args: []string{"link_id"}, readOnly: true,
	},
	{
		use: "links list", method: personallinksv1.PersonalLinkOperationsService_ListPersonalLinkBatch_FullMethodName,
		short: "List the links of a batch",
		args:  []string{"batch_id"}, readOnly: true, columns: []string{"link.id", "link.status", "label", "locale"},
	},

	{
		use: "links preview", method: giftsitev1.GiftSiteOperationsService_PreviewGiftSite_FullMethodName,
		short: "Write a page of the gift site as HTML, with the saved theme or a proposed one", flatten: "site",
		args: []string{"page"}, required: []string{"brand_id"}, readOnly: true, text: "html",
	},

	{
		use: "events watch", method: eventsv1.EventOperationsService_WatchEvents_FullMethodName,
		short: "Print events of a tenant as they come, until Ctrl-C", readOnly: true,
	},

	{
		use: "webhook log", method: webhookv1.WebhookOperationsService_ListDeliveries_FullMethodName,
		short: "List the deliveries of a key, newest first", args: []string{"key_id"}, readOnly: true,
	},
	{
		use: "webhook get", method: webhookv1.WebhookOperationsService_GetDelivery_FullMethodName,
		short: "Show a delivery with its attempts", args: []string{"key_id", "event_id"}, readOnly: true,
	},
	{
		use: "webhook resend", method: webhookv1.WebhookOperationsService_ResendDelivery_FullMethodName,
		short: "Send a finished delivery again", args: []string{"key_id", "event_id"},
	},
	{
		use: "webhook resend-range", method: webhookv1.WebhookOperationsService_ResendDeliveries_FullMethodName,
		short: "Send the deliveries of a time span again", args: []string{"key_id"},
		required: []string{"recorded_from", "recorded_before"},
	},
	{
		use: "webhook backlog", method: webhookv1.WebhookOperationsService_GetBacklog_FullMethodName,
		short: "Show what is pending for the keys of a tenant", readOnly: true,
	},
}
