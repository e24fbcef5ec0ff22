package growth_test

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// search is the operation that searches for orders as staff do, and must find at least so many.
func (c *orderCalls) search(name string, least int, req func(n int) *ordersv1.SearchOrdersRequest) operation {
	return operation{name, func(n int) error {
		query := req(n)
		query.Actor = staff
		found, err := c.operations.SearchOrders(c.b.Context(), query)
		if err == nil && len(found.GetOrders()) < least {
			return fmt.Errorf("%d orders instead of %d or more", len(found.GetOrders()), least)
		}
		return err
	}}
}

func (c *orderCalls) searches() []operation {
	const page = 50
	return []operation{
		c.search("search-reference", 1, func(n int) *ordersv1.SearchOrdersRequest {
			return &ordersv1.SearchOrdersRequest{Reference: proto.String(c.open[n%few].GetReference())}
		}),
		c.search("search-status-everywhere", page, func(int) *ordersv1.SearchOrdersRequest {
			return &ordersv1.SearchOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_REQUESTED.Enum()}
		}),
		c.search("search-campaign", page, func(int) *ordersv1.SearchOrdersRequest {
			return &ordersv1.SearchOrdersRequest{TenantId: &c.tenant.ID, CampaignId: &c.campaign}
		}),
		c.search("search-brand-status", 0, func(int) *ordersv1.SearchOrdersRequest {
			return &ordersv1.SearchOrdersRequest{
				TenantId: &c.tenant.ID, BrandId: &c.smallBrand, Status: ordersv1.OrderStatus_ORDER_STATUS_PROCESSING.Enum(),
			}
		}),
		c.search("search-placed", 0, func(n int) *ordersv1.SearchOrdersRequest {
			from := c.at.Add(-time.Duration(c.size-c.known(n)) * 8 * time.Second)
			return &ordersv1.SearchOrdersRequest{
				TenantId: &c.tenant.ID, PlacedFrom: timestamppb.New(from.Add(-time.Hour)), PlacedBefore: timestamppb.New(from),
			}
		}),
	}
}

// changes are operations on single orders.
func (c *orderCalls) changes() []operation {
	return []operation{
		{"get", func(n int) error {
			_, err := c.orders.GetOrder(c.as(), &ordersv1.GetOrderRequest{OrderId: orderID(c.known(n))})
			return err
		}},
		{"get-not-in-memory", func(n int) error {
			_, err := c.orders.GetOrder(c.as(), &ordersv1.GetOrderRequest{OrderId: orderID(c.own(n))})
			return err
		}},
		{"messages", func(n int) error {
			_, err := c.orders.ListOrderMessages(c.as(), &ordersv1.ListOrderMessagesRequest{OrderId: orderID(c.known(n))})
			return err
		}},
		{"audit", func(n int) error {
			_, err := c.operations.ListAudit(c.b.Context(), &ordersv1.ListAuditRequest{
				Actor: staff, TenantId: c.tenant.ID, OrderId: orderID(c.known(n)),
			})
			return err
		}},
		{"place", func(int) error {
			_, err := c.place()
			return err
		}},
		{"message", func(n int) error {
			_, err := c.orders.PostOrderMessage(c.as(), &ordersv1.PostOrderMessageRequest{OrderId: orderID(c.known(n)), Body: "When will it come?"})
			return err
		}},
		{"correct-delivery", func(n int) error {
			of := c.open[n%few]
			corrected, err := c.operations.CorrectDelivery(c.b.Context(), &ordersv1.CorrectDeliveryRequest{
				Actor: staff, TenantId: c.tenant.ID, OrderId: of.GetId(), ExpectedVersion: proto.Int64(of.GetVersion()),
				CourierComment: proto.String(fmt.Sprintf("Ring %d times", n)),
			})
			c.open[n%few] = corrected.GetOrder()
			return err
		}},
		{"correct-status", func(n int) error {
			// Forth and back.
			to := []ordersv1.OrderStatus{ordersv1.OrderStatus_ORDER_STATUS_SENT, ordersv1.OrderStatus_ORDER_STATUS_PROCESSING}[n%2]
			_, err := c.operations.CorrectStatus(c.b.Context(), &ordersv1.CorrectStatusRequest{
				Actor: staff, TenantId: c.tenant.ID, OrderId: c.corrected.GetId(), Status: to,
			})
			return err
		}},
	}
}
