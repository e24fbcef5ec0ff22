package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

// Types of events.
const (
	changed = "order.status_changed"
	posted  = "order.message_posted"
)

// recordedBefore is how many events the order has: one for each version.
func recordedBefore(o *ordersv1.Order) int { return int(o.GetVersion()) + 1 }

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

// placeInStatus places an order for a key and brings it to the status by the usual steps. The tenant approves.
func (f *fixture) placeInStatus(t *testing.T, status ordersv1.OrderStatus) *ordersv1.Order {
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

// auditOf lists an order's audit without the entry of this reading.
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

// operate calls the operation on the order.
func (f *fixture) operate(ctx context.Context, op ordersv1.Operation, a *commonv1.Actor, o *ordersv1.Order) error {
	return f.operateIn(ctx, tenantID, op, a, o)
}

func (f *fixture) operateIn(
	ctx context.Context, tenant string, op ordersv1.Operation, a *commonv1.Actor, o *ordersv1.Order,
) (err error) {
	id := o.GetId()
	switch op {
	case ordersv1.Operation_OPERATION_PLACE:
		_, err = f.PlaceOrderAs(ctx, &ordersv1.PlaceOrderAsRequest{Actor: a, TenantId: tenant, OrderId: id, Order: request("")})
	case ordersv1.Operation_OPERATION_APPROVE:
		_, err = f.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: a, TenantId: tenant, OrderId: id})
	case ordersv1.Operation_OPERATION_DISPATCH:
		_, err = f.DispatchOrder(ctx, &ordersv1.DispatchOrderRequest{Actor: a, TenantId: tenant, OrderId: id, Shipment: parcel("T-2")})
	case ordersv1.Operation_OPERATION_DELIVER:
		_, err = f.DeliverOrder(ctx, &ordersv1.DeliverOrderRequest{Actor: a, TenantId: tenant, OrderId: id})
	case ordersv1.Operation_OPERATION_CANCEL:
		_, err = f.CancelOrderAs(ctx, &ordersv1.CancelOrderAsRequest{Actor: a, TenantId: tenant, OrderId: id, Reason: "x"})
	case ordersv1.Operation_OPERATION_CORRECT_STATUS:
		_, err = f.CorrectStatus(ctx, &ordersv1.CorrectStatusRequest{Actor: a, TenantId: tenant, OrderId: id, Status: requestedStatus})
	case ordersv1.Operation_OPERATION_CORRECT_TRACKING:
		_, err = f.CorrectTracking(ctx,
			&ordersv1.CorrectTrackingRequest{Actor: a, TenantId: tenant, OrderId: id, Shipment: parcel("T-3")})
	case ordersv1.Operation_OPERATION_CORRECT_DELIVERY:
		_, err = f.CorrectDelivery(ctx, &ordersv1.CorrectDeliveryRequest{
			Actor: a, TenantId: tenant, OrderId: id, ExpectedVersion: new(o.GetVersion()), CourierComment: new("ring twice"),
		})
	case ordersv1.Operation_OPERATION_POST_MESSAGE:
		_, err = f.PostMessageAs(ctx,
			&ordersv1.PostMessageAsRequest{Actor: a, TenantId: tenant, OrderId: id, MessageId: newID(), Body: "x"})
	case ordersv1.Operation_OPERATION_ADD_NOTE:
		_, err = f.AddInternalNote(ctx,
			&ordersv1.AddInternalNoteRequest{Actor: a, TenantId: tenant, OrderId: id, MessageId: newID(), Body: "x"})
	case ordersv1.Operation_OPERATION_LIST_CONVERSATION:
		_, err = f.ListConversation(ctx, &ordersv1.ListConversationRequest{Actor: a, TenantId: tenant, OrderId: id})
	case ordersv1.Operation_OPERATION_SEARCH:
		_, err = f.SearchOrders(ctx, &ordersv1.SearchOrdersRequest{Actor: a, TenantId: &tenant})
	case ordersv1.Operation_OPERATION_READ:
		_, err = f.ReadOrder(ctx, &ordersv1.ReadOrderRequest{Actor: a, TenantId: tenant, OrderId: id})
	case ordersv1.Operation_OPERATION_LIST_AUDIT:
		_, err = f.ListAudit(ctx, &ordersv1.ListAuditRequest{Actor: a, TenantId: tenant, OrderId: id})
	case ordersv1.Operation_OPERATION_ERASE_PERSONAL_DATA:
		_, err = f.ErasePersonRecords(ctx,
			&privacyv1.ErasePersonRecordsRequest{TenantId: tenant, RequestedBy: a, RecordIds: []string{id}})
	case ordersv1.Operation_OPERATION_EXPORT_PERSONAL_DATA:
		_, err = f.ExportPersonRecords(ctx,
			&privacyv1.ExportPersonRecordsRequest{TenantId: tenant, RequestedBy: a, RecordIds: []string{id}})
	default:
		err = problem.Internal()
	}
	return err
}
