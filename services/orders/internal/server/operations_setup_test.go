package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

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

func (f *fixture) approve(t *testing.T, id string) {
	t.Helper()
	_, err := f.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: person(aCoordinator), TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
}

func (f *fixture) dispatch(t *testing.T, id string) {
	t.Helper()
	_, err := f.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Shipment: parcel("T-1"),
	})
	require.NoError(t, err)
}

func (f *fixture) deliver(t *testing.T, id string) {
	t.Helper()
	_, err := f.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: operator(), TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
}

func (f *fixture) cancel(t *testing.T, id string) {
	t.Helper()
	_, err := f.CancelOrderAs(t.Context(), &ordersv1.CancelOrderAsRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Reason: "first reason",
	})
	require.NoError(t, err)
}

// in places an order for a key and takes it to the status by the usual steps. The tenant approves.
func (f *fixture) in(t *testing.T, status ordersv1.OrderStatus) *ordersv1.Order {
	t.Helper()
	id := f.placeOne(t, newID()).GetId()
	steps := map[ordersv1.OrderStatus][]func(t *testing.T, id string){
		processingStatus: {f.approve},
		sentStatus:       {f.approve, f.dispatch},
		completedStatus:  {f.approve, f.dispatch, f.deliver},
		cancelledStatus:  {f.cancel},
	}
	for _, step := range steps[status] {
		step(t, id)
	}
	order := f.read(t, id)
	require.Equal(t, status, order.GetStatus())
	return order
}

func (f *fixture) correct(t *testing.T, id string, status ordersv1.OrderStatus) (*ordersv1.Order, error) {
	t.Helper()
	req := &ordersv1.CorrectStatusRequest{Actor: operator(), TenantId: tenantID, OrderId: id, Status: status}
	if status == cancelledStatus {
		req.Reason = "corrected"
	}
	resp, err := f.CorrectStatus(t.Context(), req)
	return resp.GetOrder(), err
}

// auditOf lists an order's audit but for this very reading.
func (f *fixture) auditOf(t *testing.T, id string) []*ordersv1.AuditEntry {
	t.Helper()
	resp, err := f.ListAudit(t.Context(), &ordersv1.ListAuditRequest{
		Actor: operator(), TenantId: tenantID, OrderId: id, Limit: new(int32(100)),
	})
	require.NoError(t, err)
	require.Nil(t, resp.NextCursor)
	entries := resp.GetEntries()
	return entries[:len(entries)-1]
}
