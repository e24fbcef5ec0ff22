package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// testOrderStates tries every action a key has on an order in every status.
func (p *platform) testOrderStates(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	const (
		correct = `{"expectedVersion": 99}`
		cancel  = `{"reason": "The player chose another reward."}`
		message = `{"body": "When does it come?"}`
	)
	for _, row := range []struct {
		status, correct, cancel string
	}{
		{"REQUESTED", "not_editable", ""},
		{"PROCESSING", "version_conflict", ""},
		{"SENT", "not_editable", "not_cancellable"},
		{"COMPLETED", "not_editable", "not_cancellable"},
		{"CANCELLED", "not_editable", ""},
	} {
		t.Run(row.status, func(t *testing.T) {
			path := "/orders/" + p.orderIn(t, key, row.status)
			before := p.get(t, key, path).object(t)
			require.Equal(t, row.status, before["status"])

			problem := requireProblem(t, p.post(t, key, path+":update-delivery", correct), http.StatusConflict, row.correct)
			if row.correct == "not_editable" {
				require.Equal(t, row.status, problem["currentStatus"])
			}
			posted := p.post(t, key, path+"/messages", message)
			require.Equal(t, http.StatusCreated, posted.status, posted.body)
			require.Equal(t, before, p.get(t, key, path).object(t), "a message changes nothing about the order")

			cancelled := p.post(t, key, path+":cancel", cancel)
			if row.cancel != "" {
				problem := requireProblem(t, cancelled, http.StatusConflict, row.cancel)
				require.Equal(t, row.status, problem["currentStatus"])
				return
			}
			require.Equal(t, http.StatusOK, cancelled.status, cancelled.body)
			after := cancelled.object(t)
			require.Equal(t, "CANCELLED", after["status"])
			if row.status == "CANCELLED" {
				require.Equal(t, before, after, "it stays as it is")
			}
		})
	}
}

// orderIn places an order and has the operator put it in the status.
func (p *platform) orderIn(t *testing.T, key, status string) string {
	t.Helper()
	placed := p.post(t, key, "/orders", p.order(t, nil))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	id, _ := placed.object(t)["id"].(string)
	request := &ordersv1.CorrectStatusRequest{
		Actor:    &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "1", Name: "Bea"},
		TenantId: seed.Direct, OrderId: id,
		Status: ordersv1.OrderStatus(ordersv1.OrderStatus_value["ORDER_STATUS_"+status]),
	}
	if status == "CANCELLED" {
		request.Reason = "First reason."
	}
	operations := ordersv1.NewOrderOperationsServiceClient(p.dial(t, "GIFTING_GRPC_ORDERS"))
	_, err := operations.CorrectStatus(t.Context(), request)
	require.NoError(t, err)
	return id
}

func (p *platform) testCorrectingDelivery(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	placed := p.post(t, key, "/orders", p.order(t, nil))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	id, _ := placed.object(t)["id"].(string)
	path := "/orders/" + id + ":update-delivery"

	t.Run("one field at a time", func(t *testing.T) {
		corrected := p.post(t, key, path, `{"expectedVersion": 0, "recipient": {"address": {"street": "`+markedStreet+` B"}}, "orderId": 7}`)
		require.Equal(t, http.StatusOK, corrected.status, corrected.body)
		require.InDelta(t, 1, corrected.object(t)["version"], 0)
		require.Equal(t, corrected.body, p.get(t, key, "/orders/"+id).body)
		event := p.eventOf(t, key, id, "order.updated")
		require.JSONEq(t, corrected.body, string(event.Data))
		requireNoPersonalData(t, corrected.body+event.raw)
	})
	t.Run("nothing", func(t *testing.T) {
		same := p.post(t, key, path, `{"expectedVersion": 1, "recipient": null, "courierComment": null}`)
		require.Equal(t, http.StatusOK, same.status, same.body)
		require.InDelta(t, 1, same.object(t)["version"], 0)
	})
	t.Run("with faults", func(t *testing.T) {
		requireProblem(t, p.post(t, key, path, `{"expectedVersion": 0, "urgent": "x"}`), http.StatusConflict, "version_conflict")
		faulty := `{"expectedVersion": 1, "urgent": "x", "recipient": {"name": "", "phone": "070", "address": {"country": "NO", "street": 1}}}`
		problem := requireProblem(t, p.post(t, key, path, faulty), http.StatusBadRequest, "invalid_request")
		require.ElementsMatch(t, []string{
			"urgent invalid", "recipient.name required", "recipient.phone invalid", "recipient.address.street invalid",
		}, faults(t, problem))
		problem = requireProblem(t, p.post(t, key, path, `{}`), http.StatusBadRequest, "invalid_request")
		require.Equal(t, []string{"expectedVersion required"}, faults(t, problem))
		requireProblem(t, p.post(t, key, path, `{"expectedVersion": 1, "recipient": {"address": {"country": "NO"}}}`),
			http.StatusUnprocessableEntity, "country_change_not_allowed")
	})
	t.Run("by many at once", func(t *testing.T) {
		const callers = 20
		var won, lost atomic.Int32
		var group errgroup.Group
		for range callers {
			group.Go(func() error {
				switch p.send(t, call{method: http.MethodPost, path: path, key: key, body: `{"expectedVersion": 1, "urgent": true}`}).status {
				case http.StatusOK:
					won.Add(1)
				case http.StatusConflict:
					lost.Add(1)
				}
				return nil
			})
		}
		require.NoError(t, group.Wait())
		require.EqualValues(t, 1, won.Load())
		require.EqualValues(t, callers-1, lost.Load())
	})
	t.Run("of an order the key does not see", func(t *testing.T) {
		limited := p.newKey(t, "", p.brandOf(t, key)).GetApiKey()
		for _, path := range []string{path, "/orders/no-uuid:update-delivery"} {
			requireProblem(t, p.post(t, limited, path, `{}`), http.StatusNotFound, "not_found")
		}
	})
}

func (p *platform) testCancelling(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	productID, variations, before := p.stock(t, key, "")
	placed := p.post(t, key, "/orders", p.order(t, func(order map[string]any) {
		delete(order, "brandId")
		order["campaignId"] = p.env["GIFTING_CAMPAIGN_ID"]
		order["items"] = []any{map[string]any{"productId": productID, "variations": variations}}
	}))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	id, _ := placed.object(t)["id"].(string)
	_, _, taken := p.stock(t, key, productID)
	require.Equal(t, before-1, taken)

	cancelled := p.post(t, key, "/orders/"+id+":cancel", `{"reason": "The player chose another reward."}`)
	require.Equal(t, http.StatusOK, cancelled.status, cancelled.body)
	_, _, after := p.stock(t, key, productID)
	require.Equal(t, before, after, "the unit is back at once")

	event := p.eventOf(t, key, id, "order.status_changed")
	require.JSONEq(t, `{"order":`+cancelled.body+`,"previousStatus":"PROCESSING"}`, string(event.Data))

	again := p.post(t, key, "/orders/"+id+":cancel", `{"reason": "Another reason."}`)
	require.Equal(t, http.StatusOK, again.status)
	require.Equal(t, cancelled.body, again.body)
	problem := requireProblem(t, p.post(t, key, "/orders/"+id+":cancel", `{}`), http.StatusBadRequest, "invalid_request")
	require.Equal(t, []string{"reason required"}, faults(t, problem))
}

// stock gives a stocked SKU of the demo's campaign, of the gift if one is named.
func (p *platform) stock(t *testing.T, key, productID string) (product string, variations map[string]any, units int) {
	t.Helper()
	var campaign struct {
		Offerings []struct {
			ProductID  string `json:"productId"`
			SupplyType string `json:"supplyType"`
			SKUs       []struct {
				Variations     map[string]any `json:"variations"`
				StockRemaining int            `json:"stockRemaining"`
			} `json:"skus"`
		} `json:"offerings"`
	}
	read := p.get(t, key, "/campaigns/"+p.env["GIFTING_CAMPAIGN_ID"])
	require.NoError(t, json.Unmarshal([]byte(read.body), &campaign), read.body)
	for _, o := range campaign.Offerings {
		if o.SupplyType == "STOCKED" && (productID == "" || productID == o.ProductID) {
			return o.ProductID, o.SKUs[0].Variations, o.SKUs[0].StockRemaining
		}
	}
	require.Fail(t, "no stocked offering")
	return "", nil, 0
}

func (p *platform) testMessages(t *testing.T) {
	writing := p.newKey(t, p.receiver(t)+"/writing").GetApiKey()
	watching := p.env["GIFTING_KEY_2"]
	placed := p.post(t, writing, "/orders", p.order(t, nil))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	order := placed.object(t)
	id, _ := order["id"].(string)
	path := "/orders/" + id + "/messages"
	require.Equal(t, "[]", p.get(t, writing, path).body)

	request := call{method: http.MethodPost, path: path, key: writing, idempotencyKey: "message-" + id, body: `{"body": "When does it come?"}`}
	posted := p.do(t, request)
	require.Equal(t, http.StatusCreated, posted.status, posted.body)
	require.Equal(t, posted.body, p.do(t, request).body)

	event := p.eventOf(t, watching, id, "order.message_posted")
	var data struct {
		OrderID         string          `json:"orderId"`
		ExternalOrderID string          `json:"externalOrderId"`
		Message         json.RawMessage `json:"message"`
	}
	require.NoError(t, json.Unmarshal(event.Data, &data))
	require.Equal(t, id, data.OrderID)
	require.Equal(t, order["externalOrderId"], data.ExternalOrderID)
	require.JSONEq(t, "["+string(data.Message)+"]", p.get(t, watching, path).body)
	var message map[string]any
	require.NoError(t, json.Unmarshal(data.Message, &message))
	require.Equal(t, posted.object(t)["id"], message["id"])
	require.Equal(t, map[string]any{"kind": "API_KEY", "name": "end-to-end test"}, message["author"])

	t.Run("reach the others only", func(t *testing.T) {
		require.Eventually(t, func() bool { return p.reached(t, event.ID, "/webhooks") }, slow, 50*time.Millisecond)
		// What the other key writes arrives: by then the own message would have.
		require.Equal(t, http.StatusCreated, p.post(t, watching, path, `{"body": "Soon?"}`).status)
		answered := p.eventOf(t, writing, id, "order.message_posted")
		require.NotEqual(t, event.ID, answered.ID)
		require.Contains(t, answered.raw, "Soon?")
		require.Eventually(t, func() bool { return p.reached(t, answered.ID, "/writing") }, slow, 50*time.Millisecond)
		require.False(t, p.reached(t, event.ID, "/writing"))
		for _, e := range p.feed(t, writing) {
			require.NotEqual(t, event.ID, e.ID)
		}
	})
}

// reached says whether the event has arrived at the receiver's path.
func (p *platform) reached(t *testing.T, eventID, path string) bool {
	t.Helper()
	return slices.ContainsFunc(p.arrived(t, eventID), func(d inbox.Delivery) bool { return d.Path == path })
}

// eventOf waits for the order's event of the type in the feed of the key.
func (p *platform) eventOf(t *testing.T, key, orderID, kind string) event {
	t.Helper()
	var found event
	require.Eventually(t, func() bool {
		events, _ := p.tryFeed(t, key)
		for _, e := range events {
			if e.Type == kind && strings.Contains(e.raw, orderID) {
				found = e
				return true
			}
		}
		return false
	}, slow, 100*time.Millisecond, "the feed does not show the event")
	return found
}
