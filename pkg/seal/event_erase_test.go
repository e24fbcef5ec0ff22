package seal_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// eventOf is the data of an event.
func eventOf(t *testing.T, m proto.Message) []byte {
	t.Helper()
	data, err := restjson.Marshal(m)
	require.NoError(t, err)
	return data
}

func TestAnErasedEventSaysNothingAboutThePerson(t *testing.T) {
	t.Parallel()
	const marked, kept = "Marked <&>\u2028\"\\", "cancellationReason"
	order := func(text string, shipments ...*ordersv1.Shipment) *ordersv1.Order {
		return &ordersv1.Order{
			Id: "0198f2e4-0000-7000-8000-000000000001", ExternalOrderId: new(kept), ExternalCampaignRef: new(kept),
			ExternalRecipientId: &text, ExternalActionRef: &text, CancellationReason: &text, Shipments: shipments,
			Items: []*ordersv1.OrderItem{
				{Kind: ordersv1.ItemKind_ITEM_KIND_CUSTOM, ProductName: text, Variations: map[string]string{
					"body": kept, "externalRecipientId": kept,
				}},
				{Kind: ordersv1.ItemKind_ITEM_KIND_CATALOG, ProductName: kept},
			},
		}
	}
	message := func(kind ordersv1.MessageAuthorKind, name, body string) *ordersv1.OrderMessagePosted {
		return &ordersv1.OrderMessagePosted{OrderId: kept, Message: &ordersv1.OrderMessage{
			Author: &ordersv1.MessageAuthor{Kind: kind, Name: name}, Body: body,
		}}
	}
	client, key := ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_TENANT_CLIENT, ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_API_KEY
	shipped := &ordersv1.Shipment{Carrier: marked, TrackingReference: marked, TrackingUrl: marked}
	for name, c := range map[string]struct{ event, want proto.Message }{
		"an order": {order(marked, shipped), order(seal.Erased)},
		"a change of an order": {
			&ordersv1.OrderStatusChanged{Order: order(marked, shipped), PreviousStatus: ordersv1.OrderStatus_ORDER_STATUS_SENT},
			&ordersv1.OrderStatusChanged{Order: order(seal.Erased), PreviousStatus: ordersv1.OrderStatus_ORDER_STATUS_SENT},
		},
		"a message of a key":    {message(key, kept, marked), message(key, kept, seal.Erased)},
		"a message of a client": {message(client, marked, marked), message(client, seal.Erased, seal.Erased)},
		"a link": {
			&linksv1.PersonalLink{Id: kept, ClaimUrl: kept, ExternalRecipientId: new(marked)},
			&linksv1.PersonalLink{Id: kept, ClaimUrl: kept, ExternalRecipientId: new(seal.Erased)},
		},
		"nothing about a person": {&linksv1.PersonalLink{Id: kept, ClaimUrl: kept}, &linksv1.PersonalLink{Id: kept, ClaimUrl: kept}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, want := eventOf(t, c.event), eventOf(t, c.want)
			erased, err := seal.EraseEvent(data)
			require.NoError(t, err)
			require.Equal(t, string(want), string(erased))
			again, err := seal.EraseEvent(erased)
			require.NoError(t, err)
			require.Equal(t, string(want), string(again))

			envelope := &eventsv1.Event{
				Id: uuid.NewString(), Type: "order.created", OccurredAt: timestamppb.Now(), Environment: "sandbox", Data: data,
			}
			body := eventOf(t, envelope)
			envelope.Data = want
			erased, err = seal.EraseEvent(body)
			require.NoError(t, err)
			require.Equal(t, string(eventOf(t, envelope)), string(erased), "the webhook stays equal to the item of the feed")
		})
	}
}

func TestASealedTextIsErasedWithoutItsKey(t *testing.T) {
	t.Parallel()
	ref, data := newRef(), message(t, "Hello")
	sealed, err := sealtest.Writer(t, sealtest.Keys("a")).Seal(ref, data, seal.MessageBody)
	require.NoError(t, err)
	erased, err := seal.EraseEvent(sealed)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(string(data), `"body":"Hello"`, `"body":"[erased]"`, 1), string(erased))
}

func TestTextThatIsNoEventIsNotErased(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"body":`, `{"body":"x"`, `{"items":[}`, `{"author":{`} {
		_, err := seal.EraseEvent([]byte(text))
		require.Error(t, err, text)
	}
}
