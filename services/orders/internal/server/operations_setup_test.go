package server_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/server"
)

const (
	anAdministrator = "0198f2e4-0000-7000-8000-0000000000a1"
	aCoordinator    = "0198f2e4-0000-7000-8000-0000000000a2"
	aPlainMember    = "0198f2e4-0000-7000-8000-0000000000a3"
	operatorName    = "The Operator"

	requestedStatus  = ordersv1.OrderStatus_ORDER_STATUS_REQUESTED
	processingStatus = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING
	sentStatus       = ordersv1.OrderStatus_ORDER_STATUS_SENT
	completedStatus  = ordersv1.OrderStatus_ORDER_STATUS_COMPLETED
	cancelledStatus  = ordersv1.OrderStatus_ORDER_STATUS_CANCELLED
)

// desk is the operations plane over a fixture.
type desk struct {
	*fixture
	*server.Operations
}

// openDesk gives the tenant a team and lets its orders wait for approval.
func openDesk(t *testing.T) *desk {
	t.Helper()
	f := setup(t)
	f.tenants.settings.Tenant.ApprovalRequired = true
	f.tenants.settings.Team = append(f.tenants.settings.Team,
		&tenantsv1.TeamMember{Id: anAdministrator, Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true},
		&tenantsv1.TeamMember{Id: aCoordinator, Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true},
		&tenantsv1.TeamMember{Id: aPlainMember, Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true})
	return &desk{fixture: f, Operations: &server.Operations{Orders: f.Server, OperatorName: operatorName}}
}

func person(id string) *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: id, Name: "Marked Colleague"}
}

func operator() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-1", Name: "Marked Clerk"}
}

func aClient() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "client-1", Name: "Cleo"}
}

func theSystem() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
}

func parcel(reference string) *ordersv1.Shipment {
	return &ordersv1.Shipment{Carrier: "Post", TrackingReference: reference, TrackingUrl: "https://carrier.example/" + reference}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (d *desk) approve(t *testing.T, id string) {
	t.Helper()
	_, err := d.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: person(aCoordinator), TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
}

func (d *desk) dispatch(t *testing.T, id string) {
	t.Helper()
	_, err := d.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel("T-1"),
	})
	require.NoError(t, err)
}

func (d *desk) deliver(t *testing.T, id string) {
	t.Helper()
	_, err := d.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
}

func (d *desk) cancel(t *testing.T, id string) {
	t.Helper()
	_, err := d.CancelOrderAs(t.Context(), &ordersv1.CancelOrderAsRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Reason: "first reason",
	})
	require.NoError(t, err)
}

// in places an order of the API and brings it into the status by the way it would go.
func (d *desk) in(t *testing.T, status ordersv1.OrderStatus) *ordersv1.Order {
	t.Helper()
	external := newID()
	resp, err := d.PlaceOrder(as(t, external), request(external))
	require.NoError(t, err)
	id := resp.GetOrder().GetId()
	switch status {
	case processingStatus:
		d.approve(t, id)
	case sentStatus:
		d.approve(t, id)
		d.dispatch(t, id)
	case completedStatus:
		d.approve(t, id)
		d.dispatch(t, id)
		d.deliver(t, id)
	case cancelledStatus:
		d.cancel(t, id)
	default:
	}
	order := d.read(t, id)
	require.Equal(t, status, order.GetStatus())
	return order
}

// read is the order as a key sees it.
func (d *desk) read(t *testing.T, id string) *ordersv1.Order {
	t.Helper()
	resp, err := d.GetOrder(as(t, ""), &ordersv1.GetOrderRequest{OrderId: id})
	require.NoError(t, err)
	return resp.GetOrder()
}

func (d *desk) correct(t *testing.T, id string, status ordersv1.OrderStatus) (*ordersv1.Order, error) {
	t.Helper()
	req := &ordersv1.CorrectStatusRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Status: status}
	if status == cancelledStatus {
		req.Reason = "corrected"
	}
	resp, err := d.CorrectStatus(t.Context(), req)
	return resp.GetOrder(), err
}

// eventsOf lists the types of an order's events.
func (d *desk) eventsOf(t *testing.T, id string) (types []string) {
	t.Helper()
	rows, err := d.pool.Query(t.Context(), "SELECT type FROM outbox WHERE subject_id = $1 ORDER BY id", id)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var kind string
		require.NoError(t, rows.Scan(&kind))
		types = append(types, kind)
	}
	require.NoError(t, rows.Err())
	return types
}

func (d *desk) auditOf(t *testing.T, id string) []*ordersv1.AuditEntry {
	t.Helper()
	resp, err := d.ListAudit(t.Context(), &ordersv1.ListAuditRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Limit: proto.Int32(100),
	})
	require.NoError(t, err)
	require.Nil(t, resp.NextCursor)
	entries := resp.GetEntries()
	return entries[:len(entries)-1] // Without this very reading.
}
