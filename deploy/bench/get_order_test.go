package bench_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// readOrders are read in turn.
const readOrders = 1000

// orderInSQL is an order as one statement reads it.
const orderInSQL = `SELECT id, reference, version, external_order_id, external_recipient_id, external_campaign_ref,
  external_action_ref, source, brand_id, campaign_id, catalog_selection, personal_link_id, status, item_kind,
  product_id, product_name, variations, delivery_country, urgent, received_outside_active_hours, carrier,
  tracking_reference, tracking_url, cancellation_reason, created_at, updated_at
FROM orders WHERE tenant_id = $1 AND id = $2`

// BenchmarkGetOrder reads orders through the gateway and, in turn, by the same call of the orders service itself and by
// the statement that it runs. Clients of either have a connection each, as they are different people's. Once more the
// clients of the service share one, as the gateway's calls do: their calls then go to the system together.
func BenchmarkGetOrder(b *testing.B) {
	p := startOrders(b)
	edge := newEdgeClients(b, clients, p.env["GIFTING_URL"], p.keys)
	orders := p.placeMany(b, edge[0])
	p.drain(b)
	var direct [clients]func(id string) error
	for i := range direct {
		direct[i] = p.directReader(b)
	}
	sql := p.sqlReader(b)
	var byEdge, byGRPC, byShared, bySQL side
	database, nothing := p.db.Config().Database, func() {}
	once(b, func() {
		for range rounds() {
			byEdge.take(b, database, func(i int) error {
				_, err := edge[i].get("/orders/" + orders.any())
				return err
			}, nothing)
			byGRPC.take(b, database, func(i int) error { return direct[i](orders.any()) }, nothing)
			byShared.take(b, database, func(int) error { return direct[0](orders.any()) }, nothing)
			bySQL.take(b, database, func(int) error { return sql(orders.any()) }, nothing)
			b.Logf("gateway %v, gRPC %v, over one connection %v, SQL %v", &byEdge, &byGRPC, &byShared, &bySQL)
		}
	})
	b.ReportMetric(median(byEdge.rates), "edge-orders/s")
	b.ReportMetric(median(ratios(byEdge.rates, byGRPC.rates)), "edge/grpc")
	b.ReportMetric(median(ratios(byEdge.rates, byShared.rates)), "edge/grpc-shared")
	b.ReportMetric(median(ratios(byEdge.rates, bySQL.rates)), "edge/sql")
	b.ReportMetric(median(ratios(byGRPC.used, byEdge.used)), "edge/grpc-by-cpu")
	b.ReportMetric(median(ratios(byShared.used, byEdge.used)), "edge/grpc-shared-by-cpu")
	b.ReportMetric(median(ratios(bySQL.used, byEdge.used)), "edge/sql-by-cpu")
}

func (p *ordering) placeMany(b *testing.B, by *edgeClient) *shelf {
	b.Helper()
	placed := &shelf{}
	for range readOrders {
		answered, err := p.place(by)
		require.NoError(b, err)
		var order struct{ ID string }
		require.NoError(b, json.Unmarshal(answered, &order))
		placed.orders = append(placed.orders, order.ID)
	}
	return placed
}

// directReader calls the orders service as the gateway does, over a connection of its own, for a principal that is known
// beforehand.
func (p *ordering) directReader(b *testing.B) func(id string) error {
	b.Helper()
	service := ordersv1.NewOrdersServiceClient(dial(b, p.env, "GIFTING_GRPC_ORDERS"))
	principal := caller.Principal{
		TenantID: p.id, KeyID: 1, KeyName: "benchmark", AllBrands: true,
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

func (p *ordering) sqlReader(b *testing.B) func(id string) error {
	b.Helper()
	cfg, err := pgxpool.ParseConfig(databaseURL(b, p.db.Config().Database))
	require.NoError(b, err)
	cfg.MaxConns = clients
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	return func(id string) error {
		rows, err := pool.Query(b.Context(), orderInSQL, p.id, id)
		if err != nil {
			return err
		}
		found := 0
		for rows.Next() {
			found += len(rows.RawValues()[0])
		}
		rows.Close()
		if err := rows.Err(); err != nil || found == 0 {
			return fmt.Errorf("read order %s, %s bytes of its id: %w", id, strconv.Itoa(found), err)
		}
		return nil
	}
}
