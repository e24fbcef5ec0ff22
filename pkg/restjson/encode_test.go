package restjson_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func requireJSON(t *testing.T, want string, m proto.Message) {
	t.Helper()
	got, err := restjson.Marshal(m)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func TestMarshalPlatformMessages(t *testing.T) {
	t.Parallel()
	price := &commonv1.Money{Amount: "12.50", Currency: "EUR"}
	tests := []struct {
		name string
		give proto.Message
		want string
	}{
		{
			"an unset optional string is null and a set empty one is not",
			&tenantsv1.Brand{Id: "b", LogoUrl: proto.String("")},
			`{"id":"b","name":"","slug":"","primaryColour":null,"logoUrl":""}`,
		},
		{
			"an empty message has all members", &ordersv1.Order{},
			`{"id":"","reference":"","version":0,"externalOrderId":null,"externalRecipientId":null,"externalCampaignRef":null,` +
				`"externalActionRef":null,"source":null,"brandId":"","campaignId":null,"selection":null,"personalLinkId":null,` +
				`"status":null,"items":[],"deliveryCountry":"","urgent":false,"receivedOutsideActiveHours":false,"shipments":[],` +
				`"cancellationReason":null,"createdAt":null,"updatedAt":null}`,
		},
		{
			"a map is sorted and an enum has no prefix",
			&ordersv1.OrderItem{Kind: ordersv1.ItemKind_ITEM_KIND_CUSTOM, Variations: map[string]string{"b": "2", "a": "1", "": "0"}},
			`{"kind":"CUSTOM","productId":null,"productName":"","variations":{"":"0","a":"1","b":"2"}}`,
		},
		{
			"an enum name of several words keeps them",
			&ordersv1.ListOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_SENT.Enum()},
			`{"externalOrderId":null,"externalRecipientId":null,"status":"SENT","brandId":null,"updatedSince":null,` +
				`"after":null,"limit":null}`,
		},
		{
			"enum values that are zero or unknown are null in a list",
			&commonv1.Principal{Scopes: []commonv1.Scope{1, 0, 99}},
			`{"tenantId":"","keyId":0,"keyName":"","scopes":["CATALOG",null,null],"allBrands":false,"brandIds":[],` +
				`"tenantVersion":0,"cell":"","moving":false}`,
		},
		{
			"an int64 is a number", &commonv1.Principal{TenantVersion: math.MaxInt64, KeyId: math.MinInt32},
			`{"tenantId":"","keyId":-2147483648,"keyName":"","scopes":[],"allBrands":false,"brandIds":[],` +
				`"tenantVersion":9223372036854775807,"cell":"","moving":false}`,
		},
		{"a decimal is a string", price, `{"amount":"12.50","currency":"EUR"}`},
		{
			"an inline message that is unset is null", &tenantsv1.Key{Id: 1},
			`{"id":1,"name":"","prefix":"","scopes":[],"brandIds":null,"webhookUrl":null}`,
		},
		{
			"an inline message with nothing in its list is an empty list",
			&tenantsv1.Key{Id: 1, BrandIds: &tenantsv1.BrandIds{}},
			`{"id":1,"name":"","prefix":"","scopes":[],"brandIds":[],"webhookUrl":null}`,
		},
		{"an inline message is its list", &tenantsv1.BrandIds{Ids: []string{"x", "y"}}, `["x","y"]`},
		{"an inline oneof is its member", &catalogv1.ListProductsResponse{Items: []*catalogv1.ProductEntry{
			{
				Entry: &catalogv1.ProductEntry_Unlisted{Unlisted: &catalogv1.UnlistedProduct{Id: "u", UpdatedAt: &timestamppb.Timestamp{}}},
			}, {},
		}}, `{"items":[{"id":"u","listed":false,"updatedAt":"1970-01-01T00:00:00Z"},null],"nextCursor":null}`},
		{
			"an entry is its product, with the product's money",
			&catalogv1.ProductEntry{Entry: &catalogv1.ProductEntry_Product{
				Product: &catalogv1.Product{Estimate: price, Images: []*catalogv1.Image{{Width: proto.Int32(0)}}},
			}},
			`{"id":"","name":"","description":"","listed":false,"available":false,"priced":false,` +
				`"estimate":{"amount":"12.50","currency":"EUR"},"estimateEur":null,"variations":[],"categories":[],` +
				`"images":[{"url":"","width":0}],"customizationAvailable":false,"giftSet":false,"readyToSend":false,"updatedAt":null}`,
		},
		{
			"nothing set in a oneof leaves it out", &linksv1.PersonalLinkResult{},
			`{"index":0,"externalRecipientId":null,"outcome":null}`,
		},
		{
			"an empty inline member of a oneof is written as its value",
			&linksv1.PersonalLinkResult{Result: &linksv1.PersonalLinkResult_Errors{Errors: &linksv1.RecipientErrors{}}},
			`{"index":0,"externalRecipientId":null,"outcome":null,"errors":[]}`,
		},
		{
			"raw JSON is written as it is", &eventsv1.Event{Data: []byte(`{"b": [1.0, "<"]}`)},
			`{"id":"","type":"","occurredAt":null,"environment":"","data":{"b": [1.0, "<"]}}`,
		},
		{"empty raw JSON is null", &eventsv1.Event{}, `{"id":"","type":"","occurredAt":null,"environment":"","data":null}`},
		{
			"text is escaped no more than JSON needs",
			&catalogv1.Subcategory{Code: "<a href='x'>&\u2028\x7f", Name: "\"\\/\b\f\n\r\t\x00\x1f é 🎁"},
			`{"code":"<a href='x'>&` + "\u2028\x7f" + `","name":"\"\\/\b\f\n\r\t\u0000\u001f é 🎁"}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { requireJSON(t, test.want, test.give) })
	}
}

func TestMarshalTimestamps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		seconds int64
		nanos   int32
		want    string
	}{
		{"whole seconds have no fraction", 1717150530, 0, `"2024-05-31T10:15:30Z"`},
		{"six decimals are kept", 1717150530, 123456000, `"2024-05-31T10:15:30.123456Z"`},
		{"nanoseconds are cut, never rounded up", 1717150530, 999999999, `"2024-05-31T10:15:30.999999Z"`},
		{"less than a microsecond is no fraction", 1717150530, 999, `"2024-05-31T10:15:30Z"`},
		{"before 1970 the fraction still counts upwards", -1, 500000000, `"1969-12-31T23:59:59.5Z"`},
		{"the first instant", -62135596800, 0, `"0001-01-01T00:00:00Z"`},
		{"the last instant", 253402300799, 999999999, `"9999-12-31T23:59:59.999999Z"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			requireJSON(t, test.want, &timestamppb.Timestamp{Seconds: test.seconds, Nanos: test.nanos})
		})
	}
}

func TestMarshalRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give proto.Message
		want string
	}{
		{
			"invalid UTF-8 in a string, naming the innermost field",
			&ordersv1.ListOrdersResponse{Items: []*ordersv1.Order{{Id: "\xff"}}},
			"gifting.orders.v1.Order.id: not valid UTF-8",
		},
		{
			"invalid UTF-8 in a map key", &ordersv1.OrderItem{Variations: map[string]string{"\xff": ""}},
			"gifting.orders.v1.OrderItem.variations: not valid UTF-8",
		},
		{"invalid UTF-8 in raw JSON", &eventsv1.Event{Data: []byte("\"\xff\"")}, "gifting.events.v1.Event.data: not valid UTF-8"},
		{
			"a year past 9999", &ordersv1.Order{CreatedAt: &timestamppb.Timestamp{Seconds: 253402300800}},
			"gifting.orders.v1.Order.created_at: timestamp outside the years 1 to 9999",
		},
		{"a year before 1", &timestamppb.Timestamp{Seconds: -62135596801}, "timestamp outside the years 1 to 9999"},
		{"negative nanoseconds", &timestamppb.Timestamp{Nanos: -1}, "timestamp outside the years 1 to 9999"},
		{"an unsupported well-known type, set or not", &status.Status{}, "google.protobuf.Any is not supported"},
		{"a duration", newOf(t, "Waits"), "google.protobuf.Duration is not supported"},
		{"numbers with a fraction", newOf(t, "Fraction"), "schema.Fraction.a_double: double fields are not supported"},
		{"bytes that are not raw JSON", &commonv1.Request{}, "gifting.common.v1.Request.fingerprint: bytes fields are not supported"},
		{"map keys that are numbers", newOf(t, "Numbered"), "schema.Numbered.names: map keys other than strings are not supported"},
		{
			"an inline message with two fields", newOf(t, "TwoInline"),
			"schema.TwoInline: an inline message has one field, or one oneof and nothing else",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out, err := restjson.Marshal(test.give)
			require.EqualError(t, err, "restjson: "+test.want)
			require.Nil(t, out)
		})
	}
}

func TestNilMessagesAreNull(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give proto.Message
		want string
	}{
		{"no message at all", nil, `null`},
		{"a nil pointer", (*ordersv1.Order)(nil), `null`},
		{"a nil member of a oneof", &catalogv1.ProductEntry{Entry: &catalogv1.ProductEntry_Product{}}, `null`},
		{"a nil element of a list", &catalogv1.ListCategoriesResponse{Categories: []*catalogv1.Category{nil}}, `{"categories":[null]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := restjson.Marshal(test.give)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
}
