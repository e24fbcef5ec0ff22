package gifting

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// nothing is the body of a request without members.
type nothing struct{}

// Webhooks are those of the key.
type Webhooks struct{ client *Client }

// Test sends a signed ping to the key's webhook URL and returns what the receiver answered.
func (w Webhooks) Test(ctx context.Context, options ...CallOption) (*TestWebhookResult, error) {
	return post[TestWebhookResult](ctx, w.client, routeTo("/webhooks:test"), nothing{}, options)
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

// Deliveries are all of the key, newest first, with what the receiver answered.
func (w Webhooks) Deliveries(ctx context.Context, query ListWebhookDeliveriesQuery, options ...CallOption) List[WebhookDelivery] {
	return list[WebhookDelivery](ctx, w.client, "/webhooks/deliveries", query.values(), options)
}

// Health says whether the key's receiver accepts webhooks.
func (w Webhooks) Health(ctx context.Context, options ...CallOption) (*WebhookHealth, error) {
	return send[WebhookHealth](ctx, w.client, &call{method: http.MethodGet, route: routeTo("/webhooks/health")}, options)
}

// Resend sends the event of a delivery once more.
func (w Webhooks) Resend(ctx context.Context, deliveryID string, options ...CallOption) (*WebhookDelivery, error) {
	return post[WebhookDelivery](ctx, w.client, routeTo("/webhooks/deliveries/{deliveryId}:resend", deliveryID), nothing{}, options)
}

// Replay sends the deliveries of a time span once more.
func (w Webhooks) Replay(ctx context.Context, span ReplayWebhooksRequest, options ...CallOption) (*ReplayWebhooksResult, error) {
	return post[ReplayWebhooksResult](ctx, w.client, routeTo("/webhooks:replay"), span, options)
}

// RotateSecret makes a new signing secret. Only the first answer has it: if that is lost, rotate again with a new Idempotency-Key.
func (w Webhooks) RotateSecret(
	ctx context.Context, rotation RotateWebhookSecretRequest, options ...CallOption,
) (*RotatedWebhookSecret, error) {
	return post[RotatedWebhookSecret](ctx, w.client, routeTo("/webhooks:rotate-secret"), rotation, options)
}
