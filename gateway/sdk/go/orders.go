package gifting

import (
	"context"
	"net/http"
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

// Orders are those that the key can see.
type Orders struct{ client *Client }

// Place places an order. ExternalOrderID keeps it from being placed twice for good; the Idempotency-Key does so for 30 days.
func (o Orders) Place(ctx context.Context, order PlaceOrderRequest, options ...CallOption) (*Order, error) {
	return post[Order](ctx, o.client, routeTo("/orders"), order, options)
}

// Validate makes every check of Place and returns all problems at once, without an effect.
func (o Orders) Validate(ctx context.Context, order PlaceOrderRequest, options ...CallOption) (*OrderValidation, error) {
	validation := &call{method: http.MethodPost, route: routeTo("/orders:validate"), body: order}
	return send[OrderValidation](ctx, o.client, validation, options)
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

// List is all orders, newest first.
func (o Orders) List(ctx context.Context, query ListOrdersQuery, options ...CallOption) List[Order] {
	return list[Order](ctx, o.client, "/orders", query.values(), options)
}

// Get reads an order.
func (o Orders) Get(ctx context.Context, orderID string, options ...CallOption) (*Order, error) {
	return get[Order](ctx, o.client, routeTo("/orders/{orderId}", orderID), nil, options)
}

// UpdateDelivery corrects recipient, courier comment or urgency while the order is PROCESSING.
func (o Orders) UpdateDelivery(
	ctx context.Context, orderID string, change UpdateDeliveryRequest, options ...CallOption,
) (*Order, error) {
	return postAction[Order](ctx, o.client, routeTo("/orders/{orderId}:update-delivery", orderID), change, options)
}

// Cancel cancels an order that is REQUESTED or PROCESSING.
func (o Orders) Cancel(
	ctx context.Context, orderID string, cancellation CancelOrderRequest, options ...CallOption,
) (*Order, error) {
	return postAction[Order](ctx, o.client, routeTo("/orders/{orderId}:cancel", orderID), cancellation, options)
}

// Messages reads the messages of an order, oldest first.
func (o Orders) Messages(ctx context.Context, orderID string, options ...CallOption) ([]OrderMessage, error) {
	made := &call{method: http.MethodGet, route: routeTo("/orders/{orderId}/messages", orderID)}
	return items(send[[]OrderMessage](ctx, o.client, made, options))
}

// PostMessage posts a text to the service operator.
func (o Orders) PostMessage(
	ctx context.Context, orderID string, message PostOrderMessageRequest, options ...CallOption,
) (*PostedMessage, error) {
	return postAction[PostedMessage](ctx, o.client, routeTo("/orders/{orderId}/messages", orderID), message, options)
}
