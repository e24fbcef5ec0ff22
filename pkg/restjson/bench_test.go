package restjson_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func sampleOrder(n int) *ordersv1.Order {
	placed := time.Date(2024, 5, 31, 10, 15, 30, 123456000, time.UTC)
	return &ordersv1.Order{
		Id:                  fmt.Sprintf("0190d2b4-5c1e-7a53-9f10-%012d", n),
		Reference:           fmt.Sprintf("GFT-%06d", n),
		Version:             int64(n),
		ExternalOrderId:     proto.String(fmt.Sprintf("crm-order-%d", n)),
		ExternalRecipientId: proto.String("recipient-81723"),
		ExternalCampaignRef: proto.String("spring-2024"),
		Source:              ordersv1.OrderSource_ORDER_SOURCE_API,
		BrandId:             "0190d2b4-0000-7a53-9f10-0123456789ab",
		CampaignId:          proto.String("0190d2b4-1111-7a53-9f10-0123456789ab"),
		Status:              ordersv1.OrderStatus_ORDER_STATUS_SENT,
		Items: []*ordersv1.OrderItem{{
			Kind:        ordersv1.ItemKind_ITEM_KIND_CATALOG,
			ProductId:   proto.String("0190d2b4-2222-7a53-9f10-0123456789ab"),
			ProductName: "Thermo bottle “Nordlys”, 0.5 l",
			Variations:  map[string]string{"Size": "M", "Colour": "Sea green"},
		}},
		DeliveryCountry: "DE",
		Urgent:          n%2 == 0,
		Shipments: []*ordersv1.Shipment{{
			Carrier:           "DHL",
			TrackingReference: "00340434161094042557",
			TrackingUrl:       "https://tracking.example.com/parcel?id=00340434161094042557&lang=en",
		}},
		CreatedAt: timestamppb.New(placed),
		UpdatedAt: timestamppb.New(placed.Add(time.Hour)),
	}
}

func samplePage(size int) *ordersv1.ListOrdersResponse {
	page := &ordersv1.ListOrdersResponse{NextCursor: proto.String("djE6MDE5MGQyYjQ1YzFl")}
	for n := range size {
		page.Items = append(page.Items, sampleOrder(n))
	}
	return page
}

// BenchmarkEncodePage100 measures the largest page against protojson.
func BenchmarkEncodePage100(b *testing.B) {
	m := samplePage(100)
	encoders := map[string]func(proto.Message) ([]byte, error){
		"restjson":  restjson.Marshal,
		"protojson": protojson.MarshalOptions{EmitUnpopulated: true}.Marshal,
	}
	for _, name := range []string{"restjson", "protojson"} {
		b.Run(name, func(b *testing.B) {
			encode := encoders[name]
			b.ReportAllocs()
			for b.Loop() {
				out, err := encode(m)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(out)))
			}
		})
	}
}

// BenchmarkDecodePlaceOrder measures the body of an order against protojson.
func BenchmarkDecodePlaceOrder(b *testing.B) {
	body := []byte(placeOrderBody)
	b.Run("restjson", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if found := restjson.Unmarshal(body, &ordersv1.PlaceOrderRequest{}); found != nil {
				b.Fatal(found)
			}
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if err := protojson.Unmarshal(body, &ordersv1.PlaceOrderRequest{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
