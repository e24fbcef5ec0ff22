package assistant

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (t *tools) validate(ctx context.Context, order gifting.PlaceOrderRequest) (any, error) {
	return t.Client.Orders.Validate(ctx, order)
}

func (t *tools) order(ctx context.Context, in record) (any, error) {
	return t.Client.Orders.Get(ctx, in.ID)
}

type orderQuery struct {
	paging

	Status              string `json:"status,omitempty" jsonschema:"REQUESTED, PROCESSING, SENT, COMPLETED or CANCELLED"`
	ExternalOrderID     string `json:"externalOrderId,omitempty" jsonschema:"the operator's own id of the order"`
	ExternalRecipientID string `json:"externalRecipientId,omitempty" jsonschema:"the operator's own id of the player"`
}

func (t *tools) orders(ctx context.Context, in orderQuery) (any, error) {
	return t.Client.Orders.List(ctx, gifting.ListOrdersQuery{
		Paging: in.paging.paging(), Status: gifting.OrderStatus(in.Status), ExternalOrderID: in.ExternalOrderID,
		ExternalRecipientID: in.ExternalRecipientID,
	}).First()
}

func (t *tools) place(
	ctx context.Context, req *mcp.CallToolRequest, order gifting.PlaceOrderRequest,
) (*mcp.CallToolResult, any, error) {
	return act(ctx, t, req, order, func(tenant string) []string {
		lines := []string{fmt.Sprintf("Place this order of %q in PRODUCTION? It will really be sent.", tenant)}
		if len(order.Items) > 0 && order.Items[0].ProductID != nil {
			lines = append(lines, t.gift(ctx, *order.Items[0].ProductID, order.Recipient.Address.Country))
		}
		return lines
	}, func(once gifting.CallOption) (*gifting.Order, error) { return t.Client.Orders.Place(ctx, order, once) })
}

// gift is the line about a gift of the catalog.
func (t *tools) gift(ctx context.Context, id, country string) string {
	product, err := t.Client.Catalog.Product(ctx, id, gifting.GetProductQuery{Country: country})
	switch {
	case err != nil:
		return fmt.Sprintf("gift: its name could not be read: %q", errorText(err))
	case product.Estimate == nil:
		return fmt.Sprintf("gift: %q, without an estimate", product.Name)
	}
	return fmt.Sprintf("gift: %q, estimated at %q", product.Name, product.Estimate.Amount+" "+product.Estimate.Currency)
}

func (t *tools) messages(ctx context.Context, in record) (any, error) {
	items, err := t.Client.Orders.Messages(ctx, in.ID)
	return map[string]any{"items": items}, err
}

type newMessage struct {
	record

	Body string `json:"body" jsonschema:"the text, at most 4000 characters"`
}

func (t *tools) postMessage(ctx context.Context, req *mcp.CallToolRequest, message newMessage) (*mcp.CallToolResult, any, error) {
	return act(ctx, t, req, message, func(tenant string) []string {
		lines := []string{fmt.Sprintf("Post this message on an order of %q in PRODUCTION? The service operator will read it.", tenant)}
		order, err := t.Client.Orders.Get(ctx, message.ID)
		if err != nil {
			return append(lines, fmt.Sprintf("order: it could not be read: %q", errorText(err)))
		}
		return append(lines, fmt.Sprintf("order: %q, %q", order.Reference, order.Status))
	}, func(once gifting.CallOption) (*gifting.PostedMessage, error) {
		return t.Client.Orders.PostMessage(ctx, message.ID, gifting.PostOrderMessageRequest{Body: message.Body}, once)
	})
}
