package gifting

import "context"

// Sandbox does what people do in production, where its calls return CodeNotFound.
type Sandbox struct{ client *Client }

// ApproveOrder approves an order that is REQUESTED.
func (s Sandbox) ApproveOrder(ctx context.Context, orderID string, options ...CallOption) (*Order, error) {
	return post[Order](ctx, s.client, routeTo("/sandbox/orders/{orderId}:approve", orderID), nothing{}, options)
}

// DispatchOrder sends an order that is PROCESSING. What the request leaves out is made up.
func (s Sandbox) DispatchOrder(
	ctx context.Context, orderID string, shipment DispatchSandboxOrderRequest, options ...CallOption,
) (*Order, error) {
	return post[Order](ctx, s.client, routeTo("/sandbox/orders/{orderId}:dispatch", orderID), shipment, options)
}

// DeliverOrder completes an order that is SENT.
func (s Sandbox) DeliverOrder(ctx context.Context, orderID string, options ...CallOption) (*Order, error) {
	return post[Order](ctx, s.client, routeTo("/sandbox/orders/{orderId}:deliver", orderID), nothing{}, options)
}

// CorrectTracking changes the shipment of an order that is SENT.
func (s Sandbox) CorrectTracking(
	ctx context.Context, orderID string, shipment CorrectSandboxTrackingRequest, options ...CallOption,
) (*Order, error) {
	return post[Order](ctx, s.client, routeTo("/sandbox/orders/{orderId}:correct-tracking", orderID), shipment, options)
}

// CorrectStatus gives an order any status.
func (s Sandbox) CorrectStatus(
	ctx context.Context, orderID string, correction CorrectSandboxStatusRequest, options ...CallOption,
) (*Order, error) {
	return post[Order](ctx, s.client, routeTo("/sandbox/orders/{orderId}:correct-status", orderID), correction, options)
}

// PostMessage posts a message of the service operator on an order.
func (s Sandbox) PostMessage(
	ctx context.Context, orderID string, message PostSandboxMessageRequest, options ...CallOption,
) (*PostedMessage, error) {
	return post[PostedMessage](ctx, s.client, routeTo("/sandbox/orders/{orderId}:post-message", orderID), message, options)
}

// ApproveLink approves a link that is REQUESTED.
func (s Sandbox) ApproveLink(ctx context.Context, linkID string, options ...CallOption) (*PersonalLink, error) {
	return post[PersonalLink](ctx, s.client, routeTo("/sandbox/personal-links/{linkId}:approve", linkID), nothing{}, options)
}

// ClaimLink claims a link as its player would. What the request leaves out is made up.
func (s Sandbox) ClaimLink(
	ctx context.Context, linkID string, claim ClaimSandboxPersonalLinkRequest, options ...CallOption,
) (*PersonalLink, error) {
	return post[PersonalLink](ctx, s.client, routeTo("/sandbox/personal-links/{linkId}:claim", linkID), claim, options)
}

// SetStock sets how many units of a SKU are left.
func (s Sandbox) SetStock(
	ctx context.Context, campaignID string, stock SetSandboxStockRequest, options ...CallOption,
) (*Campaign, error) {
	return post[Campaign](ctx, s.client, routeTo("/sandbox/campaigns/{campaignId}:set-stock", campaignID), stock, options)
}

// UnlistProduct takes a gift out of the tenant's catalog and campaigns.
func (s Sandbox) UnlistProduct(ctx context.Context, productID string, options ...CallOption) (*UnlistedProduct, error) {
	return post[UnlistedProduct](ctx, s.client, routeTo("/sandbox/catalog/products/{productId}:unlist", productID), nothing{}, options)
}

// RelistProduct brings a gift back.
func (s Sandbox) RelistProduct(
	ctx context.Context, productID string, relisting RelistSandboxProductRequest, options ...CallOption,
) (*Product, error) {
	return post[Product](ctx, s.client, routeTo("/sandbox/catalog/products/{productId}:relist", productID), relisting, options)
}

// SetProductAvailable says whether a gift can be sent to a country.
func (s Sandbox) SetProductAvailable(
	ctx context.Context, productID string, availability SetSandboxProductAvailableRequest, options ...CallOption,
) (*Product, error) {
	route := routeTo("/sandbox/catalog/products/{productId}:set-available", productID)
	return post[Product](ctx, s.client, route, availability, options)
}
