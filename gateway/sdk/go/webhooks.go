package gifting

import (
	"context"
	"iter"
	"net/url"
	"time"
)

// nothing is the body of a request without members.
type nothing struct{}

// TestWebhook sends a signed ping to the key's webhook URL and returns what the receiver answered.
func (c *Client) TestWebhook(ctx context.Context, options ...CallOption) (*TestWebhookResult, error) {
	return post[TestWebhookResult](ctx, c, "/webhooks:test", nothing{}, options)
}

// ListWebhookDeliveriesQuery filters deliveries.
type ListWebhookDeliveriesQuery struct {
	Paging

	State   WebhookDeliveryState
	Type    EventType
	EventID string
	// Since is the earliest time of the event.
	Since time.Time
}

func (q ListWebhookDeliveriesQuery) values() url.Values {
	return q.filters("state", string(q.State), "type", string(q.Type), "eventId", q.EventID, "since", instant(q.Since))
}

// ListWebhookDeliveries reads a page of the key's deliveries, newest first, with what the receiver answered.
func (c *Client) ListWebhookDeliveries(
	ctx context.Context, query ListWebhookDeliveriesQuery, options ...CallOption,
) (*Page[WebhookDelivery], error) {
	return get[Page[WebhookDelivery]](ctx, c, "/webhooks/deliveries", query.values(), options)
}

// WebhookDeliveries reads all deliveries from a page on.
func (c *Client) WebhookDeliveries(
	ctx context.Context, query ListWebhookDeliveriesQuery, options ...CallOption,
) iter.Seq2[WebhookDelivery, error] {
	return all[WebhookDelivery](ctx, c, "/webhooks/deliveries", query.values(), options)
}

// GetWebhookHealth says whether the key's receiver accepts webhooks.
func (c *Client) GetWebhookHealth(ctx context.Context, options ...CallOption) (*WebhookHealth, error) {
	return get[WebhookHealth](ctx, c, "/webhooks/health", nil, options)
}

// ResendWebhookDelivery sends the event of an ended delivery once more.
func (c *Client) ResendWebhookDelivery(ctx context.Context, deliveryID string, options ...CallOption) (*WebhookDelivery, error) {
	return post[WebhookDelivery](ctx, c, at("/webhooks/deliveries/{}:resend", deliveryID), nothing{}, options)
}

// ReplayWebhooks sends the deliveries of a time span once more.
func (c *Client) ReplayWebhooks(ctx context.Context, span ReplayWebhooksRequest, options ...CallOption) (*ReplayWebhooksResult, error) {
	return post[ReplayWebhooksResult](ctx, c, "/webhooks:replay", span, options)
}

// RotateOwnWebhookSecret makes a new signing secret. Only the first answer has it: if that is lost, rotate again with a new
// Idempotency-Key.
func (c *Client) RotateOwnWebhookSecret(
	ctx context.Context, rotation RotateWebhookSecretRequest, options ...CallOption,
) (*RotatedWebhookSecret, error) {
	return post[RotatedWebhookSecret](ctx, c, "/webhooks:rotate-secret", rotation, options)
}
