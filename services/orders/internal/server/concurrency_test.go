package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// TestConcurrentCallsAgreeWithTheFeed lets many callers change a few orders while connections break, calls are cancelled and
// the catalog fails. Afterwards the events, replayed from the start, must result in the current orders by the state machine,
// the audit must have every version, and the number of units must be unchanged.
func TestConcurrentCallsAgreeWithTheFeed(t *testing.T) {
	t.Parallel()
	const (
		orders, callers, calls = 4, 6, 60
		units                  = 6
	)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := setupWithoutTwins(t).withApproval()
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = false })
	f.catalog.stock = units
	var ids []string
	for range orders {
		ids = append(ids, f.campaignOrder(t).GetId())
	}
	require.Equal(t, units-orders, f.catalog.unitsLeft())

	var group sync.WaitGroup
	for n := range callers {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		group.Go(func() {
			for range calls {
				f.disturb(t, random)
				f.callSomething(t, random, ids[random.IntN(orders)])
			}
		})
	}
	group.Wait()
	f.catalog.failReports(nil)
	reconciled := func() bool { return f.reservations.Reconcile(t.Context()) == nil }
	require.Eventually(t, reconciled, 30*time.Second, time.Millisecond, "once the pool has dropped the broken connections")
	require.True(t, reconciled())

	taken := 0
	for _, id := range ids {
		if f.replay(t, id).GetStatus() != cancelledStatus {
			taken++
		}
	}
	require.Equal(t, units-taken, f.catalog.unitsLeft())
}

var errCatalogDown = errors.New("catalog is down")

// disturb sometimes breaks every database connection, lets reports to the catalog fail, or reconciles.
func (f *fixture) disturb(t *testing.T, random *rand.Rand) {
	switch random.IntN(12) {
	case 0:
		_, _ = f.pool.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
	case 1:
		f.catalog.failReports(errCatalogDown)
	case 2, 3:
		f.catalog.failReports(nil)
	case 4:
		_ = f.reservations.Reconcile(t.Context()) // Failures are reconciled at the end.
	default:
	}
}

// callSomething makes a random call, which may fail only with errors of the contract.
func (f *fixture) callSomething(t *testing.T, random *rand.Rand, id string) {
	ctx := f.keyContext(t, newID())
	if random.IntN(10) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(random.IntN(5_000_000)))
		defer cancel()
	}
	statuses := append(rules.Statuses(), processingStatus)
	target := statuses[random.IntN(len(statuses))]
	var err error
	switch random.IntN(11) {
	case 6:
		_, err = f.ApproveSandboxOrder(ctx, approval(id))
	case 7:
		_, err = f.DispatchSandboxOrder(ctx, &ordersv1.DispatchSandboxOrderRequest{OrderId: id})
	case 8:
		_, err = f.CorrectSandboxStatus(ctx, &ordersv1.CorrectSandboxStatusRequest{OrderId: id, Status: target})
	case 0:
		_, err = f.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: person(aCoordinator), TenantId: tenantID, OrderId: id})
	case 1:
		_, err = f.DispatchOrder(ctx,
			&ordersv1.DispatchOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel("T-1")})
	case 2:
		_, err = f.DeliverOrder(ctx, &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	case 3:
		_, err = f.CancelOrder(ctx, &ordersv1.CancelOrderRequest{OrderId: id, Reason: "x"})
	case 4:
		_, err = f.CorrectTracking(ctx,
			&ordersv1.CorrectTrackingRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel(newID())})
	case 5:
		_, err = f.UpdateDelivery(ctx,
			&ordersv1.UpdateDeliveryRequest{OrderId: id, ExpectedVersion: new(int64(random.IntN(20))), Urgent: new(random.IntN(2) == 0)})
	default:
		req := &ordersv1.CorrectStatusRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Status: target}
		if target == cancelledStatus {
			req.Reason = "corrected"
		}
		_, err = f.CorrectStatus(ctx, req)
	}
	if p, ok := problem.As(err); ok {
		switch p.Code {
		case problem.NotEditable, problem.NotCancellable, problem.OutOfStock, problem.VersionConflict, problem.ServiceUnavailable:
		default:
			t.Errorf("an answer outside the contract: %v", err)
		}
	}
}

// replay follows an order's events from the start and compares the result with the order and its audit.
func (f *fixture) replay(t *testing.T, id string) *ordersv1.Order {
	t.Helper()
	rows, err := f.pool.Query(t.Context(), "SELECT type, data FROM outbox WHERE subject_id = $1 ORDER BY recorded_at, id", id)
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
	current := f.read(t, id)
	want, err := restjson.Marshal(current)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(last))
	f.requireAudited(t, id, statuses)
	return current
}

// requireAudited compares the audited changes, one per version, with the statuses of the events.
func (f *fixture) requireAudited(t *testing.T, id string, statuses []string) {
	t.Helper()
	rows, err := f.pool.Query(t.Context(), `SELECT version_before, version_after, status_before, status_after FROM order_audit
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
