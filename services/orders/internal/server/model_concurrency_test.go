package server_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// TestCallsAtOnceLeaveWhatTheFeedTells lets many callers work on a few orders while connections are
// cut, calls are given up and the catalog comes and goes. Afterwards the events, replayed from the
// start, are a walk through the state machine that ends at the orders as they stand, the audit tells
// of every version, and no unit of stock was lost or made.
func TestCallsAtOnceLeaveWhatTheFeedTells(t *testing.T) {
	const (
		orders, callers, calls = 4, 6, 60
		units                  = 6
	)
	seed := fromEnvironment(t, seedVariable, rand.Uint64())
	t.Logf("%s=%d", seedVariable, seed)
	d := openDesk(t)
	d.tenants.settings.Tenant.ApprovalRequired = false
	w := newWarehouse(units)
	d.stockUp(w)
	var ids []string
	for range orders {
		ids = append(ids, d.campaignOrder(t).GetId())
	}
	require.Equal(t, units-orders, w.left())

	var group sync.WaitGroup
	for n := range callers {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		group.Go(func() {
			for range calls {
				d.disturb(t, random, w)
				d.callSomething(t, random, ids[random.IntN(orders)])
			}
		})
	}
	group.Wait()
	w.setDown(nil)
	settled := func() bool { return d.recovery.Settle(t.Context()) == nil }
	require.Eventually(t, settled, 30*time.Second, time.Millisecond, "once the pool has dropped what was cut")
	require.True(t, settled())

	taken := 0
	for _, id := range ids {
		if d.replay(t, id).GetStatus() != cancelledStatus {
			taken++
		}
	}
	require.Equal(t, units-taken, w.left())
}

func (w *warehouse) setDown(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = err
}

// disturb now and then cuts every connection to the database, lets the catalog fail, or settles.
func (d *desk) disturb(t *testing.T, random *rand.Rand, w *warehouse) {
	switch random.IntN(12) {
	case 0:
		_, _ = d.pool.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
	case 1:
		w.setDown(errCatalogDown)
	case 2, 3:
		w.setDown(nil)
	case 4:
		_ = d.recovery.Settle(t.Context()) // What fails is settled at the end.
	default:
	}
}

// callSomething makes a random call, which may fail in any way but one that the contract does not know.
func (d *desk) callSomething(t *testing.T, random *rand.Rand, id string) {
	ctx := as(t, newID())
	if random.IntN(10) == 0 {
		var give context.CancelFunc
		ctx, give = context.WithTimeout(ctx, time.Duration(random.IntN(5_000_000)))
		defer give()
	}
	statuses := []ordersv1.OrderStatus{requestedStatus, processingStatus, processingStatus, sentStatus, completedStatus, cancelledStatus}
	target := statuses[random.IntN(len(statuses))]
	var err error
	switch random.IntN(8) {
	case 0:
		_, err = d.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: person(aCoordinator), TenantId: tenantID, OrderId: id})
	case 1:
		_, err = d.DispatchOrder(ctx, &ordersv1.DispatchOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel("T-1")})
	case 2:
		_, err = d.DeliverOrder(ctx, &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	case 3:
		_, err = d.CancelOrder(ctx, &ordersv1.CancelOrderRequest{OrderId: id, Reason: "x"})
	case 4:
		_, err = d.CorrectTracking(ctx, &ordersv1.CorrectTrackingRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel(newID())})
	case 5:
		_, err = d.UpdateDelivery(ctx, &ordersv1.UpdateDeliveryRequest{OrderId: id, ExpectedVersion: proto.Int64(int64(random.IntN(20))), Urgent: proto.Bool(random.IntN(2) == 0)})
	default:
		req := &ordersv1.CorrectStatusRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Status: target}
		if target == cancelledStatus {
			req.Reason = "corrected"
		}
		_, err = d.CorrectStatus(ctx, req)
	}
	if p, ok := problem.As(err); ok {
		switch p.Code {
		case problem.NotEditable, problem.NotCancellable, problem.OutOfStock, problem.VersionConflict, problem.ServiceUnavailable:
		default:
			t.Errorf("an answer that cannot be: %v", err)
		}
	}
}

// replay follows an order's events from the start and compares where they lead with the order and
// its audit.
func (d *desk) replay(t *testing.T, id string) *ordersv1.Order {
	t.Helper()
	rows, err := d.pool.Query(t.Context(), "SELECT type, data FROM outbox WHERE subject_id = $1 ORDER BY recorded_at, id", id)
	require.NoError(t, err)
	type row struct {
		Kind string
		Data []byte
	}
	events, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(t, err)
	var last json.RawMessage
	var statuses []string
	status, updatedAt := "", ""
	for version, e := range events {
		var changed struct {
			Order          json.RawMessage `json:"order"`
			PreviousStatus string          `json:"previousStatus"`
		}
		require.NoError(t, json.Unmarshal(e.Data, &changed))
		last = e.Data
		if e.Kind == "order.status_changed" {
			last = changed.Order
			require.Equal(t, status, changed.PreviousStatus)
		}
		var order struct {
			Version   int    `json:"version"`
			Status    string `json:"status"`
			UpdatedAt string `json:"updatedAt"`
		}
		require.NoError(t, json.Unmarshal(last, &order))
		require.Equal(t, version, order.Version, "versions follow one another")
		require.Equal(t, version == 0, e.Kind == "order.created")
		require.Equal(t, version != 0 && order.Status != status, e.Kind == "order.status_changed")
		require.NotEqual(t, updatedAt, order.UpdatedAt)
		status, updatedAt = order.Status, order.UpdatedAt
		statuses = append(statuses, status)
	}
	current := d.read(t, id)
	want, err := restjson.Marshal(current)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(last))
	d.requireAudited(t, id, statuses)
	return current
}

// requireAudited: each audited change is one version, and says of it what the events say.
func (d *desk) requireAudited(t *testing.T, id string, statuses []string) {
	t.Helper()
	rows, err := d.pool.Query(t.Context(), `SELECT version_before, version_after, status_before, status_after FROM order_audit
WHERE order_id = $1 AND version_after > version_before ORDER BY version_after`, id)
	require.NoError(t, err)
	type row struct {
		Before, After int
		From, To      string
	}
	changes, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
	require.NoError(t, err)
	require.NotEmpty(t, changes)
	last := 0
	for _, c := range changes {
		require.Greater(t, c.After, last, "one change makes one version")
		require.Equal(t, row{c.After - 1, c.After, statuses[c.After-1], statuses[c.After]}, c)
		last = c.After
	}
}
