package restjson_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const wantTimestamp = "must be an ISO 8601 date-time with a zone, such as 2024-05-31T10:15:30Z"

func invalid(field, message string) problem.Violation {
	return problem.Violation{Field: field, Code: "invalid", Message: message}
}

// decode reads body into m.
func decode(body string, m proto.Message) []problem.Violation {
	return restjson.Unmarshal([]byte(body), m)
}

func TestUnmarshalAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		body string
		want proto.Message
	}{
		{"an empty body as an empty object", ``, &ordersv1.PlaceOrderRequest{}},
		{"white space around the object", " \n{} \t", &ordersv1.PlaceOrderRequest{}},
		{
			"null as omitted, for every kind of field",
			`{"externalOrderId":null,"urgent":null,"items":null,"client":null,"customFields":null}`,
			&ordersv1.PlaceOrderRequest{},
		},
		{
			"unknown members of every shape", `{"x":1,"y":{"a":[{}, [], null, "s"]},"externalOrderId":"o","z":[]}`,
			&ordersv1.PlaceOrderRequest{ExternalOrderId: "o"},
		},
		{"the protobuf name as an unknown member", `{"external_order_id":5,"URGENT":5}`, &ordersv1.PlaceOrderRequest{}},
		{"escaped member names", `{"external\u004frderId":"o"}`, &ordersv1.PlaceOrderRequest{ExternalOrderId: "o"}},
		{
			"escapes and surrogate pairs in strings", `{"externalOrderId":"a\"\\\/\b\f\n\r\t\u00e9\ud83c\udf81"}`,
			&ordersv1.PlaceOrderRequest{ExternalOrderId: "a\"\\/\b\f\n\r\té🎁"},
		},
		{"a set optional string that is empty", `{"courierComment":""}`, &ordersv1.PlaceOrderRequest{CourierComment: proto.String("")}},
		{
			"booleans", `{"urgent":false,"brandedPackagingRequested":true}`,
			&ordersv1.PlaceOrderRequest{Urgent: proto.Bool(false), BrandedPackagingRequested: proto.Bool(true)},
		},
		{
			"an empty object as a set message", `{"customization":{}}`,
			&ordersv1.PlaceOrderRequest{Customization: &ordersv1.OrderCustomization{}},
		},
		{
			"a map with any keys", `{"items":[{"variations":{"Size":"M","a.b[0]":"","":"x"}}]}`,
			&ordersv1.PlaceOrderRequest{
				Items: []*ordersv1.OrderItemInput{{Variations: map[string]string{"Size": "M", "a.b[0]": "", "": "x"}}},
			},
		},
		{
			"an enum by its short name", `{"status":"PROCESSING"}`,
			&ordersv1.ListOrdersRequest{Status: ordersv1.OrderStatus_ORDER_STATUS_PROCESSING.Enum()},
		},
		{
			"lists of enums and of strings", `{"scopes":["ORDERS","CATALOG"],"brandIds":["a","b"]}`,
			&commonv1.Principal{Scopes: []commonv1.Scope{2, 1}, BrandIds: []string{"a", "b"}},
		},
		{"an inline list", `{"brandIds":["a"]}`, &tenantsv1.Key{BrandIds: &tenantsv1.BrandIds{Ids: []string{"a"}}}},
		{"an empty inline list as a set one", `{"brandIds":[]}`, &tenantsv1.Key{BrandIds: &tenantsv1.BrandIds{}}},
		{"any value for raw JSON, which is never read", `{"id":"e","data":{"a":1}}`, &eventsv1.Event{Id: "e"}},
		{"a decimal as a string, whatever it says", `{"amount":" 1e5x"}`, &commonv1.Money{Amount: " 1e5x"}},
		{"a decimal as a number, as it was written", `{"amount":-0.10e+07}`, &commonv1.Money{Amount: "-0.10e+07"}},
		{"a decimal of 64 characters", `{"amount":"` + strings.Repeat("é", 64) + `"}`, &commonv1.Money{Amount: strings.Repeat("é", 64)}},
		{
			"a timestamp in another zone", `{"updatedSince":"2024-05-31T12:15:30.25+02:00"}`,
			&ordersv1.ListOrdersRequest{UpdatedSince: timestamppb.New(time.Date(2024, 5, 31, 10, 15, 30, 250000000, time.UTC))},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.want.ProtoReflect().New().Interface()
			require.Empty(t, decode(test.body, got))
			require.True(t, proto.Equal(test.want, got), "%v", got)
		})
	}
}

func TestUnmarshalIntegers(t *testing.T) {
	t.Parallel()
	const range32, range64 = "must be an integer from -2147483648 to 2147483647",
		"must be an integer from -9223372036854775808 to 9223372036854775807"
	huge := strings.Repeat("9", 1<<20)
	tests := []struct {
		give string
		want int64 // of both fields when they are valid
		in32 string
		in64 string
	}{
		{"-0", 0, "", ""},
		{"0.000e99999999999999999999", 0, "", ""},
		{"1.0", 1, "", ""},
		{"1e2", 100, "", ""},
		{"1200e-2", 12, "", ""},
		{"2147483647", math.MaxInt32, "", ""},
		{"-2147483648", math.MinInt32, "", ""},
		{"2147483648", 1 << 31, range32, ""},
		{"-2147483649", -1<<31 - 1, range32, ""},
		{"9223372036854775807", math.MaxInt64, range32, ""},
		{"-9223372036854775808", math.MinInt64, range32, ""},
		{"9223372036854775808", 0, range32, range64},
		{"-9223372036854775809", 0, range32, range64},
		{"1e999999999", 0, range32, range64},
		{huge, 0, range32, range64},
		{"1." + strings.Repeat("0", 1<<20), 1, "", ""},
		{"0." + strings.Repeat("0", 99) + "1e100", 1, "", ""},
		{"1.5", 0, "must be an integer", "must be an integer"},
		{"1e-1", 0, "must be an integer", "must be an integer"},
		{"1e-" + huge, 0, "must be an integer", "must be an integer"},
		{`"1"`, 0, "must be an integer", "must be an integer"},
		{`[1]`, 0, "must be an integer", "must be an integer"},
	}
	for _, test := range tests {
		name := test.give[:min(len(test.give), 30)]
		t.Run(name+" is read or refused", func(t *testing.T) {
			var want []problem.Violation
			if test.in32 != "" {
				want = append(want, invalid("keyId", test.in32))
			}
			if test.in64 != "" {
				want = append(want, invalid("tenantVersion", test.in64))
			}
			var got commonv1.Principal
			require.Equal(t, want, decode(`{"keyId":`+test.give+`,"tenantVersion":`+test.give+`}`, &got))
			if test.in32 == "" {
				require.EqualValues(t, test.want, got.GetKeyId())
			}
			if test.in64 == "" {
				require.Equal(t, test.want, got.GetTenantVersion())
			}
		})
	}
}

func TestUnmarshalReportsInvalidFields(t *testing.T) {
	t.Parallel()
	const (
		decimal  = "must be a decimal number, as a string or a number"
		nul      = "must not contain the character U+0000"
		statuses = "must be one of REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED"
	)
	tests := []struct {
		name string
		into proto.Message
		body string
		want []problem.Violation
	}{
		{
			"another type than a list", &ordersv1.PlaceOrderRequest{}, `{"items":{}}`,
			[]problem.Violation{invalid("items", "must be an array")},
		},
		{
			"another type than an object", &ordersv1.PlaceOrderRequest{}, `{"client":"Acme"}`,
			[]problem.Violation{invalid("client", "must be an object")},
		},
		{
			"another type than a map", &ordersv1.PlaceOrderRequest{}, `{"items":[{"variations":["M"]}]}`,
			[]problem.Violation{invalid("items[0].variations", "must be an object")},
		},
		{
			"a map value of another type", &ordersv1.PlaceOrderRequest{}, `{"items":[{"variations":{"Size":1}}]}`,
			[]problem.Violation{invalid("items[0].variations.Size", "must be a string")},
		},
		{
			"a map value that is null", &ordersv1.PlaceOrderRequest{}, `{"items":[{"variations":{"Size":null}}]}`,
			[]problem.Violation{invalid("items[0].variations.Size", "must be a string")},
		},
		{
			"a list element that is null", &ordersv1.PlaceOrderRequest{}, `{"items":[null]}`,
			[]problem.Violation{invalid("items[0]", "must be an object")},
		},
		{
			"NUL in a string", &ordersv1.PlaceOrderRequest{}, `{"externalOrderId":"a\u0000"}`,
			[]problem.Violation{invalid("externalOrderId", nul)},
		},
		{
			"NUL in a map key, which the path does not repeat", &ordersv1.PlaceOrderRequest{},
			`{"items":[{"variations":{"a\u0000":"x"}}]}`,
			[]problem.Violation{invalid("items[0].variations.a\uFFFD", nul)},
		},
		{
			"a long map key is cut in the path", &ordersv1.PlaceOrderRequest{},
			`{"items":[{"variations":{"` + strings.Repeat("é", 65) + `":1}}]}`,
			[]problem.Violation{invalid("items[0].variations."+strings.Repeat("é", 64)+"…", "must be a string")},
		},
		{
			"a decimal string of 65 characters", &commonv1.Money{}, `{"amount":"` + strings.Repeat("1", 65) + `"}`,
			[]problem.Violation{invalid("amount", "must not have more than 64 characters")},
		},
		{"an unknown enum value", &ordersv1.ListOrdersRequest{}, `{"status":"LOST"}`, []problem.Violation{invalid("status", statuses)}},
		{
			"an enum value with its prefix", &ordersv1.ListOrdersRequest{}, `{"status":"ORDER_STATUS_SENT"}`,
			[]problem.Violation{invalid("status", statuses)},
		},
		{"an enum value by its number", &ordersv1.ListOrdersRequest{}, `{"status":3}`, []problem.Violation{invalid("status", statuses)}},
		{
			"an inline list of another type", &tenantsv1.Key{}, `{"brandIds":"a"}`,
			[]problem.Violation{invalid("brandIds", "must be an array")},
		},
		{
			"an element of an inline list", &tenantsv1.Key{}, `{"brandIds":[1]}`,
			[]problem.Violation{invalid("brandIds[0]", "must be a string")},
		},
		{
			"an inline oneof, which is never read", &catalogv1.ListProductsResponse{}, `{"items":[{"id":"p"}]}`,
			[]problem.Violation{invalid("items[0]", "cannot be given")},
		},
		{
			"invalid fields everywhere, in the order of the body", &ordersv1.PlaceOrderRequest{},
			`{"urgent":0,"items":[{"budget":{"amount":[],"currency":7}},{"productId":1}],"recipient":{"address":{"city":false}}}`,
			[]problem.Violation{
				invalid("urgent", "must be a boolean"), invalid("items[0].budget.amount", decimal),
				invalid("items[0].budget.currency", "must be a string"),
				invalid("items[1].productId", "must be a string"), invalid("recipient.address.city", "must be a string"),
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, decode(test.body, test.into))
		})
	}
}

func TestValidFieldsAreSetBesideInvalidOnes(t *testing.T) {
	t.Parallel()
	var got ordersv1.PlaceOrderRequest
	found := decode(
		`{"externalOrderId":5,"brandId":"b","items":[1,{"productId":"p","variations":{"A":1,"B":"2"}}],"client":{"name":7,"email":"e"}}`,
		&got,
	)
	require.Len(t, found, 4)
	require.True(t, proto.Equal(&ordersv1.PlaceOrderRequest{
		BrandId: proto.String("b"),
		Items:   []*ordersv1.OrderItemInput{{}, {ProductId: proto.String("p"), Variations: map[string]string{"B": "2"}}},
		Client:  &ordersv1.OrderClient{Email: proto.String("e")},
	}, &got), "%v", &got)

	t.Run("an inline list of another type stays unset, which differs from empty", func(t *testing.T) {
		var key tenantsv1.Key
		require.Len(t, decode(`{"brandIds":1,"name":"n"}`, &key), 1)
		require.True(t, proto.Equal(&tenantsv1.Key{Name: "n"}, &key))
	})
	t.Run("an inline list keeps its valid elements", func(t *testing.T) {
		var key tenantsv1.Key
		require.Len(t, decode(`{"brandIds":[1,"b"]}`, &key), 1)
		require.Equal(t, []string{"", "b"}, key.GetBrandIds().GetIds())
	})
	t.Run("an invalid scalar becomes an empty element", func(t *testing.T) {
		var principal commonv1.Principal
		require.Len(t, decode(`{"brandIds":["a",1,"c"],"scopes":["NONE","ORDERS"]}`, &principal), 2)
		require.Equal(t, []string{"a", "", "c"}, principal.GetBrandIds())
		require.Equal(t, []commonv1.Scope{0, 2}, principal.GetScopes())
	})
}

func TestUnmarshalRefusesUnsupportedMessages(t *testing.T) {
	t.Parallel()
	found := restjson.Unmarshal([]byte(`{}`), newOf(t, "Waits"))
	require.Equal(t, []problem.Violation{invalid("", "cannot be read: google.protobuf.Duration is not supported")}, found)
	require.Equal(t, []problem.Violation{invalid("", "the body must be a JSON object")},
		restjson.Unmarshal([]byte(`{}`), &tenantsv1.BrandIds{}))
}
