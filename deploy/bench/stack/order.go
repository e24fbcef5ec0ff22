package stack

import (
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Order is a custom request of the tenant, another one each time.
func (t Tenant) Order() *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: uuid.NewString(), BrandId: proto.String(t.Brand),
		Items: []*ordersv1.OrderItemInput{{
			CustomProductName: proto.String("A football signed by the whole team"),
			Budget:            &commonv1.Money{Amount: "1500", Currency: "SEK"},
		}},
		Client: &ordersv1.OrderClient{Name: "Ann Berg"},
		Recipient: &ordersv1.OrderRecipient{
			Name: "Ann Berg", Phone: "+46 70 123 45 67",
			Address: &ordersv1.OrderAddress{Street: "Storgatan 1", City: "Stockholm", PostalCode: proto.String("111 22"), Country: "SE"},
		},
	}
}
