package bench_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/caller"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// orderInSQL is an order as one statement reads it.
const orderInSQL = `SELECT id, reference, version, external_order_id, external_recipient_id, external_campaign_ref,
  external_action_ref, source, brand_id, campaign_id, catalog_selection, personal_link_id, status, item_kind,
  product_id, product_name, variations, delivery_country, urgent, received_outside_active_hours, carrier,
  tracking_reference, tracking_url, cancellation_reason, created_at, updated_at
FROM orders WHERE tenant_id = $1 AND id = $2`

// BenchmarkGetOrder reads orders through the gateway, then through a minimal one, then by the same call of the orders service, then
// by the service's statement. Each client of a gateway has its own connection, like different integrators. Those of the service
// share one, as the calls of the gateway do, which lets the system send calls together.
func BenchmarkGetOrder(b *testing.B) {
	f := deployOrders(b, nil)
	all, orders := f.clients(b, clients), f.placeMany(b)
	f.drain(b)
	least, direct, read := f.minimalClients(b), f.directReader(b), f.sqlReader(b)
	edge, minimal, grpc, sql := &side{clients: clients}, &side{clients: clients}, &side{clients: clients}, &side{clients: clients}
	meter := f.NewMeter(b)
	fixture.Once(b, func() {
		for range iterations() {
			for _, s := range []struct {
				*side
				read func(client int, id string) error
			}{
				{edge, func(client int, id string) error {
					_, err := all[client].Get("/orders/" + id)
					return err
				}},
				{minimal, func(client int, id string) error {
					_, err := least[client].Get("/orders/" + id)
					return err
				}},
				{grpc, func(_ int, id string) error { return direct(id) }},
				{sql, func(_ int, id string) error { return read(id) }},
			} {
				s.measure(b, meter, func(client int) error { return s.read(client, orders.next()) }, func() {})
			}
			b.Logf("gateway %v, minimal %v, gRPC %v, SQL %v", edge, minimal, grpc, sql)
		}
	})
	b.ReportMetric(fixture.Median(edge.rates), "edge-orders/s")
	b.ReportMetric(fixture.MedianRatio(minimal.rates, edge.rates), "time-of-minimal")
	b.ReportMetric(fixture.MedianRatio(edge.rates, grpc.rates), "edge/grpc")
	b.ReportMetric(fixture.MedianRatio(edge.rates, sql.rates), "edge/sql")
	edge.used.Report(b, edge.requests, time.Millisecond, "cpu-ms")
	b.ReportMetric(fixture.Load(b), "load")
}

// placeMany places the orders that are read in turn.
func (f *ordersFixture) placeMany(b *testing.B) *cycle {
	b.Helper()
	const number = 1000
	placed, c := &cycle{}, f.clients(b, 1)[0]
	for range number {
		order, _, err := f.place(c)
		require.NoError(b, err)
		placed.orders = append(placed.orders, order.ID)
	}
	return placed
}

// directReader calls the orders service as the gateway does, over one connection, for a fixed principal.
func (f *ordersFixture) directReader(b *testing.B) func(id string) error {
	b.Helper()
	service := ordersv1.NewOrdersServiceClient(f.Dial(b, "GIFTING_GRPC_ORDERS"))
	return func(id string) error {
		ctx, err := caller.Outgoing(b.Context(), f.reader(), caller.Request{ID: id})
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
