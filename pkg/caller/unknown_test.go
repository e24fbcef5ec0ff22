package caller_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/partnergifting/platform/pkg/caller"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func placeOrderRequest() *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: "o-1", CampaignId: proto.String("spring"), BrandId: proto.String("brand"), Urgent: proto.Bool(true),
		Items: []*ordersv1.OrderItemInput{
			{ProductId: proto.String("truffles"), Variations: map[string]string{"size": "L"}},
			{CustomProductName: proto.String("mug"), Budget: &commonv1.Money{Amount: "20.00", Currency: "EUR"}},
		},
		Client: &ordersv1.OrderClient{Name: "A. Client"},
		Recipient: &ordersv1.OrderRecipient{
			Name: "A. Player", Phone: "+46700000000",
			Address: &ordersv1.OrderAddress{Street: "Storgatan 1", City: "Umeå", PostalCode: proto.String("903 26"), Country: "SE"},
		},
		CustomFields: []*ordersv1.CustomFieldAnswer{{FieldId: "cost-centre", TextValue: proto.String("4711")}},
	}
}

func newer(m proto.Message) {
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
}

func TestAFieldOfALaterReleaseIsFoundWhereverItIs(t *testing.T) {
	t.Parallel()
	require.NoError(t, caller.CheckKnown(placeOrderRequest()))
	for want, change := range map[string]func(o *ordersv1.PlaceOrderRequest){
		"PlaceOrderRequest": func(o *ordersv1.PlaceOrderRequest) { newer(o) },
		"OrderAddress":      func(o *ordersv1.PlaceOrderRequest) { newer(o.GetRecipient().GetAddress()) },
		"OrderItemInput":    func(o *ordersv1.PlaceOrderRequest) { newer(o.GetItems()[1]) },
		"CustomFieldAnswer": func(o *ordersv1.PlaceOrderRequest) { newer(o.GetCustomFields()[0]) },
	} {
		o := placeOrderRequest()
		change(o)
		raw, err := proto.Marshal(o)
		require.NoError(t, err)
		var received ordersv1.PlaceOrderRequest
		require.NoError(t, proto.Unmarshal(raw, &received))
		require.EqualError(t, caller.CheckKnown(&received), "field 99 of gifting.orders.v1."+want+" is unknown to this version")
	}
	inMap, err := structpb.NewStruct(map[string]any{"a": 1, "b": []any{2}})
	require.NoError(t, err)
	require.NoError(t, caller.CheckKnown(inMap))
	newer(inMap.GetFields()["b"].GetListValue().GetValues()[0])
	require.ErrorContains(t, caller.CheckKnown(inMap), "field 99 of google.protobuf.Value")
}
