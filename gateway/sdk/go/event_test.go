package gifting_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func eventOf(kind, data string) string {
	return `{"id":"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e10","type":"` + kind +
		`","occurredAt":"2026-03-14T09:26:53.589793Z","environment":"sandbox","data":` + data + `}`
}

func TestEventsHaveTheDataOfTheirType(t *testing.T) {
	t.Parallel()
	const order, link = `{"id":"o","status":"SENT","newMember":1}`, `{"id":"l","orderId":"o","status":"CLAIMED"}`
	for kind, c := range map[gifting.EventType]struct {
		data string
		want gifting.EventData
	}{
		gifting.EventOrderCreated:       {order, &gifting.OrderCreated{}},
		gifting.EventOrderUpdated:       {order, &gifting.OrderUpdated{}},
		gifting.EventOrderStatusChanged: {`{"order":` + order + `,"previousStatus":"PROCESSING"}`, &gifting.OrderStatusChanged{}},
		gifting.EventOrderMessagePosted: {
			`{"orderId":"o","externalOrderId":null,"message":{"id":"m"}}`, &gifting.OrderMessagePosted{},
		},
		gifting.EventPersonalLinkCreated:   {link, &gifting.PersonalLinkCreated{}},
		gifting.EventPersonalLinkApproved:  {link, &gifting.PersonalLinkApproved{}},
		gifting.EventPersonalLinkClaimed:   {link, &gifting.PersonalLinkClaimed{}},
		gifting.EventPersonalLinkCancelled: {link, &gifting.PersonalLinkCancelled{}},
		gifting.EventPing:                  {`{}`, &gifting.Ping{}},
		"order.returned":                   {`[1]`, &gifting.UnknownEvent{}},
	} {
		raw := eventOf(string(kind), c.data)
		var event gifting.Event
		require.NoError(t, json.Unmarshal([]byte(raw), &event), kind)
		require.IsType(t, c.want, event.Data, kind)
		require.Equal(t, kind, event.Type)
		require.Equal(t, gifting.EnvironmentSandbox, event.Environment)
		require.Equal(t, 589793000, event.OccurredAt.Nanosecond())
		again, err := json.Marshal(event)
		require.NoError(t, err)
		require.Equal(t, raw, string(again))
		switch data := event.Data.(type) {
		case *gifting.OrderCreated:
			require.Equal(t, "o", data.ID)
		case *gifting.OrderStatusChanged:
			require.Equal(t, gifting.OrderStatusSENT, data.Order.Status)
			require.Equal(t, gifting.OrderStatusPROCESSING, data.PreviousStatus)
		case *gifting.PersonalLinkClaimed:
			require.Equal(t, "o", *data.OrderID)
		case *gifting.UnknownEvent:
			require.Equal(t, `[1]`, string(data.Raw))
		}
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{}`, `[]`, `{"id":"a","type":"ping"}`, eventOf("order.created", `"text"`)} {
		require.Error(t, json.Unmarshal([]byte(raw), &gifting.Event{}), raw)
	}
}
