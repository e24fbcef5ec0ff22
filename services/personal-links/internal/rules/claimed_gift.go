package rules

import (
	"google.golang.org/protobuf/proto"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// Progress is the status of a claimed order as players see it.
func Progress(status ordersv1.OrderStatus) linksv1.ClaimProgress {
	switch status {
	case ordersv1.OrderStatus_ORDER_STATUS_SENT:
		return linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
	case ordersv1.OrderStatus_ORDER_STATUS_COMPLETED:
		return linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED
	case ordersv1.OrderStatus_ORDER_STATUS_CANCELLED:
		return linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED
	default: // Also REQUESTED, to which the operator may set an order back.
		return linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING
	}
}

// ProductOf returns the id of the gift that was ordered, nothing for a custom request. An order has one item.
func ProductOf(order *ordersv1.Order) (id string) {
	for _, item := range order.GetItems() {
		id = item.GetProductId()
	}
	return id
}

// ClaimedGift is what the player who claimed the link sees of its order. shown is the gift in the words of the link's locale;
// nil: the order has the words of the catalog.
func ClaimedGift(l *Link, found *ordersv1.GetClaimedOrderResponse, shown *catalogv1.SelectionGift) *linksv1.ClaimedGift {
	order := found.GetOrder()
	gift := &linksv1.ClaimedGift{
		Reference: order.GetReference(), ClaimedAt: l.Record.GetClaimedAt(), SentAt: found.GetSentAt(),
		DeliveredAt: found.GetDeliveredAt(), Thanks: found.GetThanks(), AcceptsThanks: found.GetAcceptsThanks(),
		Initials: found.GetCustomization(),
	}
	for _, item := range order.GetItems() {
		gift.ProductName, gift.Variations = item.GetProductName(), item.GetVariations()
	}
	if shown != nil {
		gift.Shown = claimGift(shown)
	}
	for _, s := range order.GetShipments() {
		gift.Carrier, gift.TrackingReference, gift.TrackingUrl = s.GetCarrier(), s.GetTrackingReference(), s.GetTrackingUrl()
	}
	if r := found.GetMaskedRecipient(); r != nil {
		gift.MaskedRecipient = &linksv1.ClaimRecipient{
			Name: r.GetName(), Phone: r.GetPhone(), Email: r.Email, Street: r.GetAddress().GetStreet(), City: r.GetAddress().GetCity(),
			PostalCode: r.GetAddress().PostalCode, Country: r.GetAddress().GetCountry(),
		}
		if order.GetStatus() == ordersv1.OrderStatus_ORDER_STATUS_PROCESSING {
			gift.CorrectableVersion = proto.Int64(order.GetVersion())
		}
	}
	return gift
}
