package samples

import (
	"context"
	"fmt"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// ValidateOrder shows validateOrder.
func ValidateOrder(ctx context.Context, client *gifting.Client, order gifting.PlaceOrderRequest) error {
	// sample: validateOrder
	result, err := client.Orders.Validate(ctx, order)
	if err != nil {
		return err
	}
	for _, problem := range result.Problems {
		fmt.Println(problem.Code, problem.Detail, problem.Errors)
	}
	// end
	return nil
}

// PlaceOrder shows placeOrder. jobID is where the key comes from.
func PlaceOrder(
	ctx context.Context, client *gifting.Client, order gifting.PlaceOrderRequest, jobID string,
) (*gifting.Order, error) {
	// sample: placeOrder
	// A key that was stored before the call makes it safe to repeat after a crash.
	placed, err := client.Orders.Place(ctx, order, gifting.WithIdempotencyKey(jobID))
	if problem, ok := gifting.ProblemOf(err); ok {
		for _, field := range problem.Errors {
			fmt.Println(field.Field, field.Message)
		}
	}
	if err != nil {
		return nil, err
	}
	fmt.Println(placed.ID, placed.Reference, placed.Status)
	// end
	return placed, nil
}

// PlaceCustomOrder shows how an order is made.
func PlaceCustomOrder(ctx context.Context, client *gifting.Client, brandID, currency string) (*gifting.Order, error) {
	// sample: placeCustomOrder
	custom, err := client.Orders.Place(ctx, gifting.PlaceOrderRequest{
		ExternalOrderID:   "quickstart-go",
		ExternalActionRef: new("sandbox:auto"),
		BrandID:           &brandID,
		Items: []gifting.OrderItemInput{{
			CustomProductName: new("A football signed by the whole team"),
			Budget:            &gifting.Budget{Amount: "150.00", Currency: currency},
		}},
		Client: gifting.OrderClient{Name: "Ann Berg"},
		Recipient: gifting.OrderRecipient{
			Name: "Ann Berg", Phone: "+46 70 123 45 67",
			Address: gifting.OrderAddress{Street: "Storgatan 1", City: "Stockholm", PostalCode: new("111 22"), Country: "SE"},
		},
	}, gifting.WithIdempotencyKey("quickstart-go"))
	if err != nil {
		return nil, err
	}
	fmt.Println(custom.ID, custom.Reference)
	// end
	return custom, nil
}

// ForcedAnswer shows a retry.
func ForcedAnswer(ctx context.Context, client *gifting.Client, order gifting.PlaceOrderRequest) error {
	// sample: forcedAnswer
	// The order is placed, but the answer is lost: the client sends it again with the same Idempotency-Key.
	var response gifting.Response
	_, err := client.Orders.Place(ctx, order, gifting.WithSandboxFault("lost"), gifting.WithResponse(&response))
	if err != nil {
		return err
	}
	fmt.Println(response.Attempts, response.Replayed()) // 2 true
	// end
	return nil
}

// ListOrders shows listOrders.
func ListOrders(ctx context.Context, client *gifting.Client) error {
	// sample: listOrders
	for order, err := range client.Orders.List(ctx, gifting.ListOrdersQuery{Status: gifting.OrderStatusPROCESSING}).All() {
		if err != nil {
			return err
		}
		fmt.Println(order.ID, order.Reference)
	}
	// end
	return nil
}

// GetOrder shows getOrder.
func GetOrder(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: getOrder
	order, err := client.Orders.Get(ctx, orderID)
	if err != nil {
		return err
	}
	fmt.Println(order.Status, order.Shipments)
	// end
	return nil
}

// UpdateDelivery shows updateDelivery.
func UpdateDelivery(ctx context.Context, client *gifting.Client, order *gifting.Order) error {
	// sample: updateDelivery
	corrected, err := client.Orders.UpdateDelivery(ctx, order.ID, gifting.UpdateDeliveryRequest{
		ExpectedVersion: order.Version,
		Recipient: &gifting.DeliveryCorrection{
			Address: &gifting.AddressCorrection{Street: new("Storgatan 2")},
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(corrected.Version)
	// end
	return nil
}

// PostOrderMessage shows postOrderMessage.
func PostOrderMessage(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: postOrderMessage
	message, err := client.Orders.PostMessage(ctx, orderID, gifting.PostOrderMessageRequest{Body: "Can it arrive on Friday?"})
	if err != nil {
		return err
	}
	fmt.Println(message.ID)
	// end
	return nil
}

// ListOrderMessages shows listOrderMessages.
func ListOrderMessages(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: listOrderMessages
	messages, err := client.Orders.Messages(ctx, orderID)
	if err != nil {
		return err
	}
	for _, message := range messages {
		fmt.Println(message.Author.Name, message.Body)
	}
	// end
	return nil
}

// CancelOrder shows cancelOrder.
func CancelOrder(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: cancelOrder
	order, err := client.Orders.Cancel(ctx, orderID, gifting.CancelOrderRequest{Reason: "The player chose another reward."})
	if gifting.HasCode(err, gifting.CodeNotCancellable) {
		problem, _ := gifting.ProblemOf(err)
		fmt.Println("too late, it is", problem.CurrentStatus)
	}
	if err != nil {
		return err
	}
	fmt.Println(order.Status)
	// end
	return nil
}
