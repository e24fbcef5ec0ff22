package samples

import (
	"context"
	"fmt"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// ApproveSandboxOrder shows approveSandboxOrder.
func ApproveSandboxOrder(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: approveSandboxOrder
	order, err := client.Sandbox.ApproveOrder(ctx, orderID)
	if err != nil {
		return err
	}
	fmt.Println(order.Status)
	// end
	return nil
}

// DispatchSandboxOrder shows dispatchSandboxOrder.
func DispatchSandboxOrder(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: dispatchSandboxOrder
	order, err := client.Sandbox.DispatchOrder(ctx, orderID, gifting.DispatchSandboxOrderRequest{Carrier: new("PostNord")})
	if err != nil {
		return err
	}
	fmt.Println(order.Status)
	// end
	return nil
}

// DeliverSandboxOrder shows deliverSandboxOrder.
func DeliverSandboxOrder(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: deliverSandboxOrder
	order, err := client.Sandbox.DeliverOrder(ctx, orderID)
	if err != nil {
		return err
	}
	fmt.Println(order.Status)
	// end
	return nil
}

// CorrectSandboxTracking shows correctSandboxTracking.
func CorrectSandboxTracking(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: correctSandboxTracking
	order, err := client.Sandbox.CorrectTracking(ctx, orderID, gifting.CorrectSandboxTrackingRequest{TrackingReference: new("SE123")})
	if err != nil {
		return err
	}
	fmt.Println(order.Shipments)
	// end
	return nil
}

// CorrectSandboxStatus shows correctSandboxStatus.
func CorrectSandboxStatus(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: correctSandboxStatus
	order, err := client.Sandbox.CorrectStatus(ctx, orderID,
		gifting.CorrectSandboxStatusRequest{Status: gifting.OrderStatusPROCESSING})
	if err != nil {
		return err
	}
	fmt.Println(order.Status)
	// end
	return nil
}

// PostSandboxMessage shows postSandboxMessage.
func PostSandboxMessage(ctx context.Context, client *gifting.Client, orderID string) error {
	// sample: postSandboxMessage
	message, err := client.Sandbox.PostMessage(ctx, orderID, gifting.PostSandboxMessageRequest{Body: "It is on its way."})
	if err != nil {
		return err
	}
	fmt.Println(message.ID)
	// end
	return nil
}

// ApproveSandboxPersonalLink shows approveSandboxPersonalLink.
func ApproveSandboxPersonalLink(ctx context.Context, client *gifting.Client, linkID string) error {
	// sample: approveSandboxPersonalLink
	link, err := client.Sandbox.ApproveLink(ctx, linkID)
	if err != nil {
		return err
	}
	fmt.Println(link.Status)
	// end
	return nil
}

// ClaimSandboxPersonalLink shows claimSandboxPersonalLink.
func ClaimSandboxPersonalLink(ctx context.Context, client *gifting.Client, linkID string) error {
	// sample: claimSandboxPersonalLink
	link, err := client.Sandbox.ClaimLink(ctx, linkID, gifting.ClaimSandboxPersonalLinkRequest{})
	if err != nil {
		return err
	}
	fmt.Println(link.Status)
	// end
	return nil
}

// SetSandboxStock shows setSandboxStock.
func SetSandboxStock(ctx context.Context, client *gifting.Client, campaignID, skuID string) error {
	// sample: setSandboxStock
	campaign, err := client.Sandbox.SetStock(ctx, campaignID, gifting.SetSandboxStockRequest{SkuID: skuID, StockRemaining: 3})
	if err != nil {
		return err
	}
	fmt.Println(campaign.Name)
	// end
	return nil
}

// UnlistSandboxProduct shows unlistSandboxProduct.
func UnlistSandboxProduct(ctx context.Context, client *gifting.Client, productID string) error {
	// sample: unlistSandboxProduct
	gone, err := client.Sandbox.UnlistProduct(ctx, productID)
	if err != nil {
		return err
	}
	fmt.Println(gone.ID, gone.UpdatedAt)
	// end
	return nil
}

// RelistSandboxProduct shows relistSandboxProduct.
func RelistSandboxProduct(ctx context.Context, client *gifting.Client, productID string) error {
	// sample: relistSandboxProduct
	product, err := client.Sandbox.RelistProduct(ctx, productID, gifting.RelistSandboxProductRequest{})
	if err != nil {
		return err
	}
	fmt.Println(product.Name)
	// end
	return nil
}

// SetSandboxProductAvailable shows setSandboxProductAvailable.
func SetSandboxProductAvailable(ctx context.Context, client *gifting.Client, productID string) error {
	// sample: setSandboxProductAvailable
	product, err := client.Sandbox.SetProductAvailable(ctx, productID, gifting.SetSandboxProductAvailableRequest{
		Country:   "SE",
		Available: true,
	})
	if err != nil {
		return err
	}
	fmt.Println(product.Available)
	// end
	return nil
}
