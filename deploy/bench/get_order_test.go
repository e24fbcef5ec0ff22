package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// orderInSQL is an order as one statement reads it.
const orderInSQL = `SELECT id, reference, version, external_order_id, external_recipient_id, external_campaign_ref,
  external_action_ref, source, brand_id, campaign_id, catalog_selection, personal_link_id, status, item_kind,
  product_id, product_name, variations, delivery_country, urgent, received_outside_active_hours, carrier,
  tracking_reference, tracking_url, cancellation_reason, created_at, updated_at
FROM orders WHERE tenant_id = $1 AND id = $2`

// BenchmarkGetOrder reads orders through the gateway, then by the same call of the orders service, then by the statement
// that it runs. Clients of both have a connection each, because they belong to different people. A fourth side has the
// clients of the service share one connection, as the gateway's calls do, which lets the system send calls together.
func BenchmarkGetOrder(b *testing.B) {
	f := newOrdersFixture(b)
	all, orders := f.clients(b, clients), f.placeMany(b)
	f.drain(b)
	var direct [clients]func(id string) error
	for i := range direct {
		direct[i] = f.directReader(b)
	}
	read := f.sqlReader(b)
	edge, grpc, shared, sql := &side{clients: clients}, &side{clients: clients}, &side{clients: clients}, &side{clients: clients}
	meter := fixture.NewMeter(b, f.Database("orders"))
	fixture.Once(b, func() {
		for range iterations() {
			for _, s := range []struct {
				*side
				read func(client int, id string) error
			}{
				{edge, func(client int, id string) error {
					_, err := all[client].get("/orders/" + id)
					return err
				}},
				{grpc, func(client int, id string) error { return direct[client](id) }},
				{shared, func(_ int, id string) error { return direct[0](id) }},
				{sql, func(_ int, id string) error { return read(id) }},
			} {
				s.measure(b, meter, func(client int) error { return s.read(client, orders.next()) }, func() {})
			}
			b.Logf("gateway %v, gRPC %v, over one connection %v, SQL %v", edge, grpc, shared, sql)
		}
	})
	b.ReportMetric(fixture.Median(edge.rates), "edge-orders/s")
	for name, other := range map[string]*side{"grpc": grpc, "grpc-shared": shared, "sql": sql} {
		b.ReportMetric(fixture.MedianRatio(edge.rates, other.rates), "edge/"+name)
		b.ReportMetric(fixture.MedianRatio(other.used, edge.used), "edge/"+name+"-by-cpu")
	}
}

// placeMany places the orders that are read in turn.
func (f *ordersFixture) placeMany(b *testing.B) *cycle {
	b.Helper()
	const number = 1000
	placed, by := &cycle{}, f.clients(b, 1)[0]
	for range number {
		answer, err := f.place(by)
		require.NoError(b, err)
		var order struct{ ID string }
		require.NoError(b, json.Unmarshal(answer, &order))
		placed.orders = append(placed.orders, order.ID)
	}
	return placed
}

// directReader calls the orders service as the gateway does, over a connection of its own, for a fixed principal.
func (f *ordersFixture) directReader(b *testing.B) func(id string) error {
	b.Helper()
	service := ordersv1.NewOrdersServiceClient(f.Dial(b, "GIFTING_GRPC_ORDERS"))
	principal := caller.Principal{
		TenantID: f.tenant.ID, KeyID: 1, KeyName: "benchmark", AllBrands: true,
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	}
	return func(id string) error {
		ctx, err := caller.Outgoing(b.Context(), principal, caller.Request{ID: id})
		if err != nil {
			return err
		}
		read, err := service.GetOrder(ctx, &ordersv1.GetOrderRequest{OrderId: id})
		if err == nil && read.GetOrder().GetId() != id {
			return fmt.Errorf("read %q instead of %q", read.GetOrder().GetId(), id)
		}
		return err
	}
}

var errNoOrder = errors.New("no such order")

func (f *ordersFixture) sqlReader(b *testing.B) func(id string) error {
	b.Helper()
	pool := f.Pool(b, "orders", clients)
	return func(id string) error {
		rows, err := pool.Query(b.Context(), orderInSQL, f.tenant.ID, id)
		if err != nil {
			return err
		}
		found := rows.Next()
		rows.Close()
		if err := rows.Err(); err != nil || found {
			return err
		}
		return errNoOrder
	}
}
