package delivery_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// warmUp comes before what is measured, at the same rate.
const warmUp = 3 * time.Second

// writer makes changes, each of the next tenant, and notes when each was answered.
type writer struct {
	orders  ordersv1.OrdersServiceClient
	tenants []tenant

	lock sync.Mutex
	// answered holds the measured changes by their order.
	answered map[string]time.Time
	// endpoints are the indexes of their tenants.
	endpoints map[string]int
	faults    []error
}

func (p *platform) newWriter(b *testing.B, tenants []tenant) *writer {
	b.Helper()
	return &writer{
		orders: ordersv1.NewOrdersServiceClient(p.dial(b, "GIFTING_GRPC_ORDERS")), tenants: tenants,
		answered: map[string]time.Time{}, endpoints: map[string]int{},
	}
}

// run makes changes at the rate for the warm-up and then for the given time. A change is due by the clock, whatever
// has become of those before.
func (w *writer) run(b *testing.B, perSecond int, measured time.Duration) {
	b.Helper()
	every := time.Second / time.Duration(perSecond)
	skip := int(warmUp / every)
	n := skip + int(measured/every)
	var calls sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	began := time.Now()
	for i := range n {
		timer.Reset(time.Until(began.Add(time.Duration(i) * every)))
		<-timer.C
		calls.Go(func() { w.place(b.Context(), i%len(w.tenants), i >= skip) })
	}
	calls.Wait()
	require.Empty(b, w.faults)
	require.Len(b, w.answered, n-skip)
}

// place makes one change, of no key that has a webhook.
func (w *writer) place(ctx context.Context, index int, counts bool) {
	t := w.tenants[index]
	ctx, err := caller.Outgoing(ctx, caller.Principal{
		TenantID: t.id, KeyID: t.key + 1_000_000, KeyName: "benchmark",
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, AllBrands: true,
	}, caller.Request{IdempotencyKey: uuid.NewString(), Fingerprint: []byte("benchmark")})
	var placed *ordersv1.PlaceOrderResponse
	if err == nil {
		placed, err = w.orders.PlaceOrder(ctx, orderOf(t))
	}
	now := time.Now()
	w.lock.Lock()
	defer w.lock.Unlock()
	switch {
	case err != nil:
		w.faults = append(w.faults, err)
	case counts:
		w.answered[placed.GetOrder().GetId()] = now
		w.endpoints[placed.GetOrder().GetId()] = index
	}
}

func orderOf(t tenant) *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: uuid.NewString(), BrandId: proto.String(t.brand),
		Items: []*ordersv1.OrderItemInput{{
			CustomProductName: proto.String("A football signed by the whole team"),
			Budget:            &commonv1.Money{Amount: "1500", Currency: "SEK"},
		}},
		Client: &ordersv1.OrderClient{Name: "Ann Berg"},
		Recipient: &ordersv1.OrderRecipient{
			Name: "Ann Berg", Phone: "+46 70 123 45 67",
			Address: &ordersv1.OrderAddress{Street: "Storgatan 1", City: "Stockholm", PostalCode: proto.String("111 22"), Country: "SE"},
		},
	}
}
