package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var (
	coordinator = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: seed.Approver, Name: "Felix Brandt"}
	clerk       = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}
)

func (p *platform) orderOperations(t *testing.T) ordersv1.OrderOperationsServiceClient {
	t.Helper()
	return ordersv1.NewOrderOperationsServiceClient(p.dial(t, "GIFTING_GRPC_ORDERS"))
}

// approvingKey makes a key of the tenant whose orders wait, so that its rate limit is its own.
func (p *platform) approvingKey(t *testing.T) string {
	t.Helper()
	return p.createKey(t, &tenantsv1.CreateKeyRequest{
		TenantId: seed.Approving, Name: "end-to-end test", Scopes: allScopes, AllBrands: true,
	}).GetApiKey()
}

// requested places an order that waits for approval.
func (p *platform) requested(t *testing.T, key string) string {
	t.Helper()
	placed := p.post(t, key, "/orders", p.order(t, func(order map[string]any) { order["brandId"] = p.brandOf(t, key) }))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	id, _ := placed.object(t)["id"].(string)
	return id
}

// testOrderOperations follows an order through the hands of the people who approve and fulfil it, as
// a key of the tenant sees it.
func (p *platform) testOrderOperations(t *testing.T) {
	key, desk := p.approvingKey(t), p.orderOperations(t)
	id := p.requested(t, key)

	t.Run("the operator does not approve", func(t *testing.T) {
		_, err := desk.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: clerk, TenantId: seed.Approving, OrderId: id})
		require.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
	})
	t.Run("each step shows in the order and in its event", func(t *testing.T) {
		shipment := &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"}
		for _, step := range []struct {
			run        func() error
			from, into string
		}{
			{func() error {
				_, err := desk.ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: coordinator, TenantId: seed.Approving, OrderId: id})
				return err
			}, "REQUESTED", "PROCESSING"},
			{func() error {
				_, err := desk.DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
					Actor: clerk, TenantId: seed.Approving, OrderId: id, Shipment: shipment,
				})
				return err
			}, "PROCESSING", "SENT"},
			{func() error {
				_, err := desk.DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: clerk, TenantId: seed.Approving, OrderId: id})
				return err
			}, "SENT", "COMPLETED"},
		} {
			require.NoError(t, step.run())
			require.NoError(t, step.run(), "again")
			read := p.get(t, key, "/orders/"+id)
			require.Equal(t, step.into, read.object(t)["status"])
			require.JSONEq(t, `{"order": `+read.body+`, "previousStatus": "`+step.from+`"}`, p.lastChange(t, key, id, step.from))
		}
		read := p.get(t, key, "/orders/"+id).object(t)
		require.InDelta(t, 3, read["version"], 0)
		require.Equal(t, []any{map[string]any{
			"carrier": "Post", "trackingReference": "T-1", "trackingUrl": "https://carrier.example/T-1",
		}}, read["shipments"])
	})
	t.Run("those who fulfil it read the details, and nobody else", func(t *testing.T) {
		file, err := desk.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: clerk, TenantId: seed.Approving, OrderId: id})
		require.NoError(t, err)
		require.Equal(t, markedStreet, file.GetDetails().GetRecipient().GetAddress().GetStreet())
		_, err = desk.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: clerk, TenantId: seed.Direct, OrderId: id})
		require.Equal(t, codes.NotFound, status.Code(err), "%v", err)
	})
	t.Run("what was done is in the audit", func(t *testing.T) {
		audit, err := desk.ListAudit(t.Context(), &ordersv1.ListAuditRequest{Actor: clerk, TenantId: seed.Approving, OrderId: id})
		require.NoError(t, err)
		var who []string
		for _, e := range audit.GetEntries() {
			who = append(who, strings.TrimPrefix(e.GetOperation().String(), "OPERATION_")+" by "+e.GetActorId())
		}
		require.Equal(t, []string{
			"APPROVE by " + seed.Approver, "APPROVE by " + seed.Approver, "DISPATCH by staff-7", "DISPATCH by staff-7",
			"DELIVER by staff-7", "DELIVER by staff-7", "READ by staff-7", "LIST_AUDIT by staff-7",
		}, who)
	})
	t.Run("the operator's message arrives under its name, its note does not", func(t *testing.T) {
		_, err := desk.AddInternalNote(t.Context(), &ordersv1.AddInternalNoteRequest{
			Actor: clerk, TenantId: seed.Approving, OrderId: id, MessageId: uuid.NewString(), Body: "Between us.",
		})
		require.NoError(t, err)
		_, err = desk.PostMessageAs(t.Context(), &ordersv1.PostMessageAsRequest{
			Actor: clerk, TenantId: seed.Approving, OrderId: id, MessageId: uuid.NewString(), Body: "It has arrived.",
		})
		require.NoError(t, err)
		e := p.eventOf(t, key, id, "order.message_posted")
		require.Contains(t, string(e.Data), `"kind":"BACKOFFICE_ACCOUNT","name":"Partner Gifting"`)
		messages := p.get(t, key, "/orders/"+id+"/messages").body
		require.Contains(t, messages, "It has arrived.")
		require.NotContains(t, messages+e.raw, "Between us.")
		require.NotContains(t, messages+e.raw, clerk.GetName())
	})
	t.Run("an order placed by the operator is an order like any other", func(t *testing.T) {
		placed, err := desk.PlaceOrderAs(t.Context(), &ordersv1.PlaceOrderAsRequest{
			Actor: clerk, TenantId: seed.Approving, OrderId: uuid.NewString(), Order: &ordersv1.PlaceOrderRequest{
				BrandId: proto.String(p.brandOf(t, key)),
				Items: []*ordersv1.OrderItemInput{{
					CustomProductName: proto.String("A hamper"), Budget: &commonv1.Money{Amount: "99.9", Currency: "EUR"},
				}},
				Client: &ordersv1.OrderClient{Name: markedName},
				Recipient: &ordersv1.OrderRecipient{Name: markedName, Phone: markedPhone, Address: &ordersv1.OrderAddress{
					Street: markedStreet, City: "Köln", PostalCode: proto.String("50667"), Country: "DE",
				}},
			},
		})
		require.NoError(t, err)
		read := p.get(t, key, "/orders/"+placed.GetOrder().GetId())
		require.Equal(t, "BACKOFFICE", read.object(t)["source"])
		require.Nil(t, read.object(t)["externalOrderId"])
		require.JSONEq(t, read.body, string(p.eventOf(t, key, placed.GetOrder().GetId(), "order.created").Data))
	})
	t.Run("the feed replayed from the start is the orders as they stand", p.testReplay)
}

// lastChange waits for the order's change from the status and gives its data.
func (p *platform) lastChange(t *testing.T, key, orderID, from string) (data string) {
	t.Helper()
	require.Eventually(t, func() bool {
		events, _ := p.tryFeed(t, key)
		for _, e := range events {
			if e.Type == "order.status_changed" && strings.Contains(e.raw, orderID) && strings.Contains(e.raw, `"previousStatus":"`+from+`"`) {
				data = string(e.Data)
			}
		}
		return data != ""
	}, slow, 100*time.Millisecond, "the feed does not show the change from %s", from)
	return data
}

// testReplay rebuilds the tenant's orders from its events alone.
func (p *platform) testReplay(t *testing.T) {
	p.ownStack(t, "all events since its start")
	key := p.approvingKey(t)
	id := p.requested(t, key)
	p.eventually(t, key, id, slow) // What was before this order stands before it.
	rebuilt := map[string]string{}
	for _, e := range p.feed(t, key) {
		record := e.Data
		switch e.Type {
		case "order.created", "order.updated":
		case "order.status_changed":
			var changed struct {
				Order json.RawMessage `json:"order"`
			}
			require.NoError(t, json.Unmarshal(e.Data, &changed))
			record = changed.Order
		default:
			continue
		}
		order, _ := answer{body: string(record)}.object(t)["id"].(string)
		rebuilt[order] = string(record)
	}
	current := p.allOrders(t, key)
	require.Len(t, rebuilt, len(current))
	for order, record := range current {
		require.JSONEq(t, record, rebuilt[order])
	}
}

// allOrders follows the pages of the list.
func (p *platform) allOrders(t *testing.T, key string) map[string]string {
	t.Helper()
	out := map[string]string{}
	path := "/orders?limit=2"
	for {
		a := p.get(t, key, path)
		require.Equal(t, http.StatusOK, a.status, a.body)
		var page struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor *string           `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &page))
		for _, item := range page.Items {
			id, _ := answer{body: string(item)}.object(t)["id"].(string)
			out[id] = string(item)
		}
		if page.NextCursor == nil {
			return out
		}
		path = "/orders?limit=2&after=" + *page.NextCursor
	}
}
