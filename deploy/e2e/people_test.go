package e2e_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// requested places an order that waits for approval.
func (s stack) requested(t *testing.T, key string) string {
	t.Helper()
	brand := s.Array(t, key, "/brands")[0]["id"]
	id, _ := s.Post(t, key, "/orders", s.Order(t, func(order map[string]any) { order["brandId"] = brand })).OK(t)["id"].(string)
	return id
}

// testPeople follows an order through approval and fulfilment, as a key of the tenant sees it.
func (s stack) testPeople(t *testing.T) {
	coordinator := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: seed.Approver, Name: "Felix Brandt"}
	operator := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}
	key, orders := s.NewKey(t, seed.Approving).GetApiKey(), s.Orders(t)
	id := s.requested(t, key)

	t.Run("each step shows in the order and in its event, and can be repeated", func(t *testing.T) {
		shipment := &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"}
		for _, step := range []struct {
			run        func() error
			from, into string
		}{
			{func() error {
				_, err := orders.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: coordinator, TenantId: seed.Approving, OrderId: id})
				return err
			}, "REQUESTED", "PROCESSING"},
			{func() error {
				_, err := orders.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
					Actor: operator, TenantId: seed.Approving, OrderId: id, Shipment: shipment,
				})
				return err
			}, "PROCESSING", "SENT"},
			{func() error {
				_, err := orders.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: operator, TenantId: seed.Approving, OrderId: id})
				return err
			}, "SENT", "COMPLETED"},
		} {
			require.NoError(t, step.run())
			require.NoError(t, step.run(), "again")
			read := s.Get(t, key, "/orders/"+id)
			require.Equal(t, step.into, read.OK(t)["status"])
			event := s.Await(t, key, harness.Slow, id, `"previousStatus":"`+step.from+`"`)
			require.JSONEq(t, `{"order": `+read.Body+`, "previousStatus": "`+step.from+`"}`, string(event.Data))
		}
		read := s.Get(t, key, "/orders/"+id).OK(t)
		require.InDelta(t, 3, read["version"], 0)
		require.Len(t, read["shipments"], 1)
	})
	t.Run("only the operator and the team read the details", func(t *testing.T) {
		read, err := orders.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator, TenantId: seed.Approving, OrderId: id})
		require.NoError(t, err)
		require.Equal(t, harness.MarkedStreet, read.GetDetails().GetRecipient().GetAddress().GetStreet())
		_, err = orders.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: operator, TenantId: seed.Direct, OrderId: id})
		require.Equal(t, codes.NotFound, status.Code(err), "%v", err)
	})
	t.Run("every operation is in the audit", func(t *testing.T) {
		audit, err := orders.ListAudit(t.Context(), &ordersv1.ListAuditRequest{Actor: operator, TenantId: seed.Approving, OrderId: id})
		require.NoError(t, err)
		var done []string
		for _, e := range audit.GetEntries() {
			done = append(done, e.GetOperation().String()[len("OPERATION_"):]+" by "+e.GetActorId())
		}
		require.Equal(t, []string{
			"APPROVE by " + seed.Approver, "APPROVE by " + seed.Approver, "DISPATCH by staff-7", "DISPATCH by staff-7",
			"DELIVER by staff-7", "DELIVER by staff-7", "READ by staff-7", "LIST_AUDIT by staff-7",
		}, done)
	})
	t.Run("the operator's message arrives under the operator's name, a note does not arrive", func(t *testing.T) {
		_, err := orders.AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
			Actor: operator, TenantId: seed.Approving, OrderId: id, MessageId: uuid.NewString(), Body: "Between us.",
		})
		require.NoError(t, err)
		_, err = orders.PostMessageAs(t.Context(), &ordersv1.PostMessageAsRequest{
			Actor: operator, TenantId: seed.Approving, OrderId: id, MessageId: uuid.NewString(), Body: "It has arrived.",
		})
		require.NoError(t, err)
		event := s.Await(t, key, harness.Slow, id, "order.message_posted")
		require.Contains(t, string(event.Data), `"kind":"BACKOFFICE_ACCOUNT","name":"Partner Gifting"`)
		seen := s.Get(t, key, "/orders/"+id+"/messages").Body + event.Raw
		require.Contains(t, seen, "It has arrived.")
		require.NotContains(t, seen, "Between us.")
		require.NotContains(t, seen, operator.GetName())
	})
	t.Run("the operator places an order", func(t *testing.T) {
		placed, err := orders.PlaceOrderAs(t.Context(), &ordersv1.PlaceOrderAsRequest{
			Actor: operator, TenantId: seed.Approving, OrderId: uuid.NewString(), Order: &ordersv1.PlaceOrderRequest{
				BrandId: proto.String(s.Array(t, key, "/brands")[0]["id"].(string)),
				Items: []*ordersv1.OrderItemInput{{
					CustomProductName: proto.String("A hamper"), Budget: &commonv1.Money{Amount: "99.9", Currency: "EUR"},
				}},
				Client: &ordersv1.OrderClient{Name: harness.MarkedName},
				Recipient: &ordersv1.OrderRecipient{Name: harness.MarkedName, Phone: harness.MarkedPhone, Address: &ordersv1.OrderAddress{
					Street: harness.MarkedStreet, City: "Köln", PostalCode: proto.String("50667"), Country: "DE",
				}},
			},
		})
		require.NoError(t, err)
		read := s.Get(t, key, "/orders/"+placed.GetOrder().GetId())
		require.Equal(t, "BACKOFFICE", read.OK(t)["source"])
		require.JSONEq(t, read.Body, string(s.Await(t, key, harness.Slow, placed.GetOrder().GetId()).Data))
	})
}
