package gifting

import "context"

// The calls of the sandbox do what people do in production, where they return CodeNotFound.

// ApproveSandboxOrder approves an order that is REQUESTED.
func (c *Client) ApproveSandboxOrder(ctx context.Context, orderID string, options ...CallOption) (*Order, error) {
	return post[Order](ctx, c, at("/sandbox/orders/{}:approve", orderID), nothing{}, options)
}

// DispatchSandboxOrder sends an order that is PROCESSING. What the request leaves out is made up.
func (c *Client) DispatchSandboxOrder(
	ctx context.Context, orderID string, shipment DispatchSandboxOrderRequest, options ...CallOption,
) (*Order, error) {
	return post[Order](ctx, c, at("/sandbox/orders/{}:dispatch", orderID), shipment, options)
}

// DeliverSandboxOrder completes an order that is SENT.
func (c *Client) DeliverSandboxOrder(ctx context.Context, orderID string, options ...CallOption) (*Order, error) {
	return post[Order](ctx, c, at("/sandbox/orders/{}:deliver", orderID), nothing{}, options)
}

// CorrectSandboxTracking changes the shipment of an order that is SENT.
func (c *Client) CorrectSandboxTracking(
	ctx context.Context, orderID string, shipment CorrectSandboxTrackingRequest, options ...CallOption,
) (*Order, error) {
	return post[Order](ctx, c, at("/sandbox/orders/{}:correct-tracking", orderID), shipment, options)
}

// CorrectSandboxStatus gives an order any status.
func (c *Client) CorrectSandboxStatus(ctx context.Context, orderID string, status OrderStatus, options ...CallOption) (*Order, error) {
	return post[Order](ctx, c, at("/sandbox/orders/{}:correct-status", orderID), CorrectSandboxStatusRequest{Status: status}, options)
}

// PostSandboxMessage posts a message of the service operator on an order.
func (c *Client) PostSandboxMessage(ctx context.Context, orderID, body string, options ...CallOption) (*PostedMessage, error) {
	return post[PostedMessage](ctx, c, at("/sandbox/orders/{}:post-message", orderID), PostSandboxMessageRequest{Body: body}, options)
}

// ApproveSandboxPersonalLink approves a link that is REQUESTED.
func (c *Client) ApproveSandboxPersonalLink(ctx context.Context, linkID string, options ...CallOption) (*PersonalLink, error) {
	return post[PersonalLink](ctx, c, at("/sandbox/personal-links/{}:approve", linkID), nothing{}, options)
}

// ClaimSandboxPersonalLink claims a link as its player would. What the request leaves out is made up.
func (c *Client) ClaimSandboxPersonalLink(
	ctx context.Context, linkID string, claim ClaimSandboxPersonalLinkRequest, options ...CallOption,
) (*PersonalLink, error) {
	return post[PersonalLink](ctx, c, at("/sandbox/personal-links/{}:claim", linkID), claim, options)
}

// SetSandboxStock sets how many units of a SKU are left.
func (c *Client) SetSandboxStock(
	ctx context.Context, campaignID string, stock SetSandboxStockRequest, options ...CallOption,
) (*Campaign, error) {
	return post[Campaign](ctx, c, at("/sandbox/campaigns/{}:set-stock", campaignID), stock, options)
}

// UnlistSandboxProduct takes a gift out of the tenant's catalog and campaigns.
func (c *Client) UnlistSandboxProduct(ctx context.Context, productID string, options ...CallOption) (*UnlistedProduct, error) {
	return post[UnlistedProduct](ctx, c, at("/sandbox/catalog/products/{}:unlist", productID), nothing{}, options)
}

// RelistSandboxProduct brings a gift back.
func (c *Client) RelistSandboxProduct(
	ctx context.Context, productID string, relisting RelistSandboxProductRequest, options ...CallOption,
) (*Product, error) {
	return post[Product](ctx, c, at("/sandbox/catalog/products/{}:relist", productID), relisting, options)
}

// SetSandboxProductAvailable says whether a gift can be sent to a country.
func (c *Client) SetSandboxProductAvailable(
	ctx context.Context, productID string, availability SetSandboxProductAvailableRequest, options ...CallOption,
) (*Product, error) {
	return post[Product](ctx, c, at("/sandbox/catalog/products/{}:set-available", productID), availability, options)
}
