package gifting

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// Budget of a custom request.
type Budget struct {
	// Amount is positive, with at most two decimals, such as 1500 or 99.50.
	Amount string `json:"amount"`
	// Currency is the tenant's, ISO 4217.
	Currency string `json:"currency"`
}

// PlaceOrder places an order. ExternalOrderID keeps it from being placed twice for good; the Idempotency-Key does so for 30 days.
func (c *Client) PlaceOrder(ctx context.Context, order PlaceOrderRequest, options ...CallOption) (*Order, error) {
	return post[Order](ctx, c, "/orders", order, options)
}

// ValidateOrder makes every check of PlaceOrder and returns all problems at once, without an effect.
func (c *Client) ValidateOrder(ctx context.Context, order PlaceOrderRequest, options ...CallOption) (*OrderValidation, error) {
	return post[OrderValidation](ctx, c, "/orders:validate", order, options)
}

// ListOrdersQuery filters orders.
type ListOrdersQuery struct {
	Paging

	ExternalOrderID, ExternalRecipientID string
	BrandID                              string
	Status                               OrderStatus
	// UpdatedSince asks for orders that changed at or after it. They are in the order of their placement all the same.
	UpdatedSince time.Time
}

func (q ListOrdersQuery) values() url.Values {
	return q.filters("externalOrderId", q.ExternalOrderID, "externalRecipientId", q.ExternalRecipientID, "brandId", q.BrandID,
		"status", string(q.Status), "updatedSince", instant(q.UpdatedSince))
}

// ListOrders reads a page of orders, newest first.
func (c *Client) ListOrders(ctx context.Context, query ListOrdersQuery, options ...CallOption) (*Page[Order], error) {
	return get[Page[Order]](ctx, c, "/orders", query.values(), options)
}

// Orders reads all orders from a page on.
func (c *Client) Orders(ctx context.Context, query ListOrdersQuery, options ...CallOption) iter.Seq2[Order, error] {
	return all[Order](ctx, c, "/orders", query.values(), options)
}

// GetOrder reads an order.
func (c *Client) GetOrder(ctx context.Context, orderID string, options ...CallOption) (*Order, error) {
	return get[Order](ctx, c, at("/orders/{}", orderID), nil, options)
}

// UpdateDelivery corrects recipient, courier comment or urgency while the order is PROCESSING.
func (c *Client) UpdateDelivery(ctx context.Context, orderID string, change UpdateDeliveryRequest, options ...CallOption) (*Order, error) {
	return post[Order](ctx, c, at("/orders/{}:update-delivery", orderID), change, options)
}

// CancelOrder cancels an order that is REQUESTED or PROCESSING.
func (c *Client) CancelOrder(ctx context.Context, orderID, reason string, options ...CallOption) (*Order, error) {
	return post[Order](ctx, c, at("/orders/{}:cancel", orderID), CancelOrderRequest{Reason: reason}, options)
}

// ListOrderMessages reads the messages of an order, oldest first.
func (c *Client) ListOrderMessages(ctx context.Context, orderID string, options ...CallOption) ([]OrderMessage, error) {
	return list[OrderMessage](ctx, c, at("/orders/{}/messages", orderID), nil, options)
}

// PostOrderMessage posts a text to the service operator.
func (c *Client) PostOrderMessage(ctx context.Context, orderID, body string, options ...CallOption) (*PostedMessage, error) {
	return post[PostedMessage](ctx, c, at("/orders/{}/messages", orderID), PostOrderMessageRequest{Body: body}, options)
}
