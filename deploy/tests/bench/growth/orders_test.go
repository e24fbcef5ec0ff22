package growth_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/page"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// BenchmarkGrowthOfOrders lists, reads, places and changes orders among ten thousand, a million and perhaps ten million others.
func BenchmarkGrowthOfOrders(b *testing.B) {
	platforms := newPlatforms(b)
	calls := make([]*orderCalls, len(platforms))
	for i, p := range platforms {
		calls[i] = newOrderCalls(b, p.fillOrders(b))
	}
	operations := make([][]operation, len(platforms))
	for i, c := range calls {
		c.readThrough(b)
		operations[i] = append(append(c.lists(), c.searches()...), c.changes()...)
	}
	fixture.Once(b, func() { measure(b, platforms, operations) })
}

// orderCalls are calls of the orders service.
type orderCalls struct {
	*filled

	b          *testing.B
	orders     ordersv1.OrdersServiceClient
	operations ordersv1.OrderOperationsServiceClient
	// open are orders that the service has placed, so it can decrypt their delivery details.
	open []*ordersv1.Order
	// corrected is another order, whose status changes.
	corrected *ordersv1.Order
}

var staff = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}

func newOrderCalls(b *testing.B, of *filled) *orderCalls {
	b.Helper()
	conn := of.Dial(b, "GIFTING_GRPC_ORDERS")
	c := &orderCalls{
		filled: of, b: b,
		orders: ordersv1.NewOrdersServiceClient(conn), operations: ordersv1.NewOrderOperationsServiceClient(conn),
	}
	for range few {
		placed, err := c.place()
		require.NoError(b, err)
		c.open = append(c.open, placed)
	}
	var err error
	c.corrected, err = c.place()
	require.NoError(b, err)
	return c
}

// cursorAfter returns a cursor after the orders placed since that time, as the service makes it for a list whose only filter may be
// updatedSince.
func (c *orderCalls) cursorAfter(ago time.Duration, updatedSince *timestamppb.Timestamp) *string {
	since := ""
	if updatedSince != nil {
		since = updatedSince.AsTime().Format(time.RFC3339Nano)
	}
	at := page.Position{Time: c.at.Add(-ago).Truncate(time.Microsecond), ID: uuid.Nil.String()}
	return proto.String(page.Bind("orders", c.tenant.ID, "", "", "0", "", since).EncodePosition(at))
}

func (c *orderCalls) place() (*ordersv1.Order, error) {
	placed, err := c.orders.PlaceOrder(c.keyContext(c.b), c.tenant.Order())
	return placed.GetOrder(), err
}

// list is the operation that lists orders, which must return at least the given number.
func (c *orderCalls) list(
	name string, least int, ctx func() context.Context, req func(n int) *ordersv1.ListOrdersRequest,
) operation {
	return operation{name, func(n int) error {
		page, err := c.orders.ListOrders(ctx(), req(n))
		if err == nil && len(page.GetItems()) < least {
			return fmt.Errorf("%d orders instead of %d or more", len(page.GetItems()), least)
		}
		return err
	}}
}

func (c *orderCalls) lists() []operation {
	all := func() context.Context { return c.keyContext(c.b) }
	limited := func() context.Context { return c.keyContext(c.b, c.tenant.Brand, c.rareBrand, c.smallBrand) }
	same := func(req *ordersv1.ListOrdersRequest) func(int) *ordersv1.ListOrdersRequest {
		return func(int) *ordersv1.ListOrdersRequest { return req }
	}
	lately, never := timestamppb.New(c.at.Add(-5*time.Minute)), timestamppb.New(c.at.Add(24*time.Hour))
	half := time.Duration(c.size/2) * 8 * time.Second
	const page = 50
	return []operation{
		c.list("list", page, all, same(&ordersv1.ListOrdersRequest{})),
		c.list("list-middle", page, all, same(&ordersv1.ListOrdersRequest{After: c.cursorAfter(half, nil)})),
		c.list("list-limited-key", page, limited, same(&ordersv1.ListOrdersRequest{})),
		c.list("list-external-id", 1, all, func(n int) *ordersv1.ListOrdersRequest {
			return &ordersv1.ListOrdersRequest{ExternalOrderId: proto.String(fmt.Sprintf("order-%d", c.known(n)))}
		}),
		c.list("list-recipient", 5, all, func(n int) *ordersv1.ListOrdersRequest {
			return &ordersv1.ListOrdersRequest{ExternalRecipientId: proto.String(fmt.Sprintf("recipient-%d", c.known(n)%(c.size/10)))}
		}),
		c.list("list-status-rare", page, all,
			same(&ordersv1.ListOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_REQUESTED.Enum()})),
		c.list("list-status-common", page, all,
			same(&ordersv1.ListOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_COMPLETED.Enum()})),
		c.list("list-brand-rare", page, all, same(&ordersv1.ListOrdersRequest{BrandId: &c.rareBrand})),
		c.list("list-brand-small", page, all, same(&ordersv1.ListOrdersRequest{BrandId: &c.smallBrand})),
		c.list("list-updated", page, all, same(&ordersv1.ListOrdersRequest{UpdatedSince: lately})),
		c.list("list-updated-long-placed", page, all, same(&ordersv1.ListOrdersRequest{
			UpdatedSince: lately, After: c.cursorAfter(15*time.Minute, lately),
		})),
		c.list("list-updated-nothing", 0, all, same(&ordersv1.ListOrdersRequest{UpdatedSince: never})),
		c.list("list-updated-limited-key", page, limited, same(&ordersv1.ListOrdersRequest{UpdatedSince: lately})),
		c.list("list-brand-status", 0, all, same(&ordersv1.ListOrdersRequest{
			BrandId: &c.smallBrand, Status: ordersv1.OrderStatus_ORDER_STATUS_PROCESSING.Enum(),
		})),
		c.list("list-status-limited-key", page, limited, same(&ordersv1.ListOrdersRequest{
			Status: ordersv1.OrderStatus_ORDER_STATUS_REQUESTED.Enum(),
		})),
		c.list("list-updated-status", 0, all, same(&ordersv1.ListOrdersRequest{
			UpdatedSince: lately, Status: ordersv1.OrderStatus_ORDER_STATUS_CANCELLED.Enum(),
		})),
		c.list("list-updated-brand", 0, all, same(&ordersv1.ListOrdersRequest{UpdatedSince: lately, BrandId: &c.smallBrand})),
		c.list("list-recipient-status", 0, all, func(n int) *ordersv1.ListOrdersRequest {
			return &ordersv1.ListOrdersRequest{
				ExternalRecipientId: proto.String(fmt.Sprintf("recipient-%d", c.known(n)%(c.size/10))),
				Status:              ordersv1.OrderStatus_ORDER_STATUS_REQUESTED.Enum(),
			}
		}),
	}
}

// search is the operation that searches for orders as staff do, and must find at least the given number.
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
			_, err := c.orders.GetOrder(c.keyContext(c.b), &ordersv1.GetOrderRequest{OrderId: orderID(c.known(n))})
			return err
		}},
		{"get-not-in-memory", func(n int) error {
			_, err := c.orders.GetOrder(c.keyContext(c.b), &ordersv1.GetOrderRequest{OrderId: orderID(c.own(n))})
			return err
		}},
		{"messages", func(n int) error {
			_, err := c.orders.ListOrderMessages(c.keyContext(c.b), &ordersv1.ListOrderMessagesRequest{OrderId: orderID(c.known(n))})
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
			_, err := c.orders.PostOrderMessage(c.keyContext(c.b), &ordersv1.PostOrderMessageRequest{
				OrderId: orderID(c.known(n)), Body: "When will it come?",
			})
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
			// It alternates between two statuses.
			to := []ordersv1.OrderStatus{ordersv1.OrderStatus_ORDER_STATUS_SENT, ordersv1.OrderStatus_ORDER_STATUS_PROCESSING}[n%2]
			_, err := c.operations.CorrectStatus(c.b.Context(), &ordersv1.CorrectStatusRequest{
				Actor: staff, TenantId: c.tenant.ID, OrderId: c.corrected.GetId(), Status: to,
			})
			return err
		}},
	}
}
