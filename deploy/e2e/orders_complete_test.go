package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// testWholeOrder places an order with every member there is and looks at what becomes of each.
func (p *platform) testWholeOrder(t *testing.T) {
	key := p.env["GIFTING_KEY"]
	text, box, choice := p.field(t, key, "TEXT"), p.field(t, key, "CHECKBOX"), p.field(t, key, "DROPDOWN")
	placed := p.post(t, key, "/orders", p.order(t, func(order map[string]any) {
		order["externalRecipientId"], order["externalCampaignRef"], order["externalActionRef"] = "player-1", "summer", "bonus"
		order["managerEmail"] = " Jonas.Berg@nordlys.example"
		order["courierComment"], order["additionalDetails"] = "Ring "+markedName, "Ask "+markedEmail
		order["urgent"], order["afterHoursServiceAccepted"], order["brandedPackagingRequested"] = true, true, true
		order["customization"] = map[string]any{"details": "For " + markedName}
		order["customFields"] = []any{
			map[string]any{"fieldId": text, "textValue": "Call " + markedPhone},
			map[string]any{"fieldId": box, "checked": false},
			map[string]any{"fieldId": choice, "textValue": "Birthday"},
			map[string]any{"fieldId": uuid.NewString(), "textValue": "ignored"},
		}
		order["unknown"] = map[string]any{"members": "are ignored"}
	}))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	requireNoPersonalData(t, placed.body)
	order := placed.object(t)
	for member, want := range map[string]any{
		"externalRecipientId": "player-1", "externalCampaignRef": "summer", "externalActionRef": "bonus", "urgent": true,
		"source": "API", "selection": nil, "personalLinkId": nil, "campaignId": nil, "cancellationReason": nil, "shipments": []any{},
	} {
		require.Equal(t, want, order[member], member)
	}
	require.Equal(t, order["createdAt"], order["updatedAt"])
	require.Regexp(t, `^G-[0-9A-Z]{5}-[0-9A-Z]{5}$`, order["reference"])

	id, _ := order["id"].(string)
	read, err := p.orderOperations(t).ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: clerk, TenantId: seed.Direct, OrderId: id})
	require.NoError(t, err)
	f := read.GetFulfilment()
	require.NotEmpty(t, f.GetManagerId())
	require.NotEmpty(t, f.GetPlacedByKey())
	require.True(t, f.GetAfterHoursServiceAccepted())
	require.True(t, f.GetBrandedPackagingRequested())
	require.Nil(t, f.GetBudget())
	want := &ordersv1.DeliveryDetails{
		Client: &ordersv1.OrderClient{Name: markedName, Email: proto.String(markedEmail)},
		Recipient: &ordersv1.OrderRecipient{
			Name: markedName, Phone: markedPhone, Email: proto.String(markedEmail),
			Address: &ordersv1.OrderAddress{Street: markedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE"},
		},
		CourierComment: "Ring " + markedName, AdditionalDetails: "Ask " + markedEmail, Customization: "For " + markedName,
		CustomFields: []*ordersv1.CustomFieldAnswer{
			{FieldId: text, TextValue: proto.String("Call " + markedPhone)},
			{FieldId: box, Checked: proto.Bool(false)},
			{FieldId: choice, TextValue: proto.String("Birthday")},
		},
	}
	require.True(t, proto.Equal(want, read.GetDetails()), "%v", read.GetDetails())

	t.Run("every filter finds it, and one it does not fit does not", func(t *testing.T) {
		external, _ := order["externalOrderId"].(string)
		updated, _ := order["updatedAt"].(string)
		for name, value := range map[string][2]string{
			"externalRecipientId": {"player-1", "player-2"},
			"status":              {"PROCESSING", "SENT"},
			"brandId":             {p.env["GIFTING_BRAND_ID"], p.brandOf(t, key)},
			"updatedSince":        {updated, "2100-01-01T00:00:00Z"},
		} {
			filter := "/orders?externalOrderId=" + external + "&" + name + "="
			require.JSONEq(t, `{"items":[`+placed.body+`],"nextCursor":null}`, p.get(t, key, filter+url.QueryEscape(value[0])).body, name)
			require.JSONEq(t, `{"items":[],"nextCursor":null}`, p.get(t, key, filter+url.QueryEscape(value[1])).body, name)
		}
	})
}

// testFeedRebuildsOrders reads the feed from its start: the newest record of each order in it is the
// order as it is now, every version of it once and in order.
func (p *platform) testFeedRebuildsOrders(t *testing.T) {
	p.ownStack(t, "all events since its start")
	key := p.newKey(t, "").GetApiKey()
	orders := map[string]json.RawMessage{}
	for path := "/orders?limit=100"; ; {
		var page struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor *string           `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(p.get(t, key, path).body), &page))
		for _, item := range page.Items {
			orders[recordIn(t, item).ID] = item
		}
		if page.NextCursor == nil {
			break
		}
		path = "/orders?limit=100&after=" + *page.NextCursor
	}
	require.NotEmpty(t, orders)
	require.Eventually(t, func() bool { return reflect.DeepEqual(orders, p.rebuild(t, key)) }, slow, 200*time.Millisecond,
		"the feed and the orders differ")
}

// record is what a rebuilding reader looks at.
type record struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

func recordIn(t *testing.T, raw json.RawMessage) (r record) {
	t.Helper()
	require.NoError(t, json.Unmarshal(raw, &r))
	return r
}

func (p *platform) rebuild(t *testing.T, key string) map[string]json.RawMessage {
	t.Helper()
	rebuilt, next := map[string]json.RawMessage{}, map[string]int{}
	for _, e := range p.feed(t, key) {
		data := e.Data
		switch e.Type {
		case "order.created", "order.updated":
		case "order.status_changed":
			var changed struct {
				Order json.RawMessage `json:"order"`
			}
			require.NoError(t, json.Unmarshal(data, &changed))
			data = changed.Order
		default:
			continue
		}
		r := recordIn(t, data)
		require.Equal(t, next[r.ID], r.Version, "the version of %s after the one before", e.Type)
		next[r.ID]++
		rebuilt[r.ID] = data
	}
	return rebuilt
}
