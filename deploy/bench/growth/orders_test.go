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

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/cursor"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// BenchmarkGrowthOfOrders lists, reads, places and changes orders among ten thousand, a million and ten million others.
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
	// corrected is another one, whose status changes.
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

// as returns a context of the tenant's key, which is limited to the brands, if any.
func (c *orderCalls) as(brands ...string) context.Context {
	c.b.Helper()
	ctx, err := caller.Outgoing(c.b.Context(), caller.Principal{
		TenantID: c.tenant.ID, KeyID: 1, KeyName: "benchmark", Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
		AllBrands: len(brands) == 0, BrandIDs: brands,
	}, caller.Request{IdempotencyKey: uuid.NewString(), Fingerprint: []byte("benchmark")})
	require.NoError(c.b, err)
	return ctx
}

// behind returns a cursor behind the orders placed since that time, as the service makes it for a list without filters but
// updatedSince.
func (c *orderCalls) behind(ago time.Duration, updatedSince *timestamppb.Timestamp) *string {
	since := ""
	if updatedSince != nil {
		since = updatedSince.AsTime().Format(time.RFC3339Nano)
	}
	at := cursor.Position{Time: c.at.Add(-ago).Truncate(time.Microsecond), ID: uuid.Nil.String()}
	return proto.String(cursor.Bind("orders", c.tenant.ID, "", "", "0", "", since).EncodePosition(at))
}

func (c *orderCalls) place() (*ordersv1.Order, error) {
	placed, err := c.orders.PlaceOrder(c.as(), c.tenant.Order())
	return placed.GetOrder(), err
}

// list is the operation that lists orders, of which there must be at least so many.
func (c *orderCalls) list(name string, least int, ctx func() context.Context, req func(n int) *ordersv1.ListOrdersRequest) operation {
	return operation{name, func(n int) error {
		page, err := c.orders.ListOrders(ctx(), req(n))
		if err == nil && len(page.GetItems()) < least {
			return fmt.Errorf("%d orders instead of %d or more", len(page.GetItems()), least)
		}
		return err
	}}
}

func (c *orderCalls) lists() []operation {
	all := func() context.Context { return c.as() }
	limited := func() context.Context { return c.as(c.tenant.Brand, c.rareBrand, c.smallBrand) }
	same := func(req *ordersv1.ListOrdersRequest) func(int) *ordersv1.ListOrdersRequest {
		return func(int) *ordersv1.ListOrdersRequest { return req }
	}
	lately, never := timestamppb.New(c.at.Add(-5*time.Minute)), timestamppb.New(c.at.Add(24*time.Hour))
	half := time.Duration(c.size/2) * 8 * time.Second
	const page = 50
	return []operation{
		c.list("list", page, all, same(&ordersv1.ListOrdersRequest{})),
		c.list("list-middle", page, all, same(&ordersv1.ListOrdersRequest{After: c.behind(half, nil)})),
		c.list("list-limited-key", page, limited, same(&ordersv1.ListOrdersRequest{})),
		c.list("list-external-id", 1, all, func(n int) *ordersv1.ListOrdersRequest {
			return &ordersv1.ListOrdersRequest{ExternalOrderId: proto.String(fmt.Sprintf("order-%d", c.known(n)))}
		}),
		c.list("list-recipient", 5, all, func(n int) *ordersv1.ListOrdersRequest {
			return &ordersv1.ListOrdersRequest{ExternalRecipientId: proto.String(fmt.Sprintf("recipient-%d", c.known(n)%(c.size/10)))}
		}),
		c.list("list-status-rare", page, all, same(&ordersv1.ListOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_REQUESTED.Enum()})),
		c.list("list-status-common", page, all, same(&ordersv1.ListOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_COMPLETED.Enum()})),
		c.list("list-brand-rare", page, all, same(&ordersv1.ListOrdersRequest{BrandId: &c.rareBrand})),
		c.list("list-brand-small", page, all, same(&ordersv1.ListOrdersRequest{BrandId: &c.smallBrand})),
		c.list("list-updated", page, all, same(&ordersv1.ListOrdersRequest{UpdatedSince: lately})),
		c.list("list-updated-long-placed", page, all, same(&ordersv1.ListOrdersRequest{
			UpdatedSince: lately, After: c.behind(15*time.Minute, lately),
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
