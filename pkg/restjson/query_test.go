package restjson_test

import (
	"net/url"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func query(t testing.TB, raw string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(raw)
	require.NoError(t, err)
	return values
}

func TestUnmarshalQuery(t *testing.T) {
	t.Parallel()
	const (
		integer   = "must be an integer"
		in32      = "must be an integer from -2147483648 to 2147483647"
		statuses  = "must be one of REQUESTED, PROCESSING, SENT, COMPLETED, CANCELLED"
		unencoded = "has an unencoded +: send Z, or encode + as %2B"
	)
	since := &timestamppb.Timestamp{Seconds: 1717150530}
	tests := []struct {
		name    string
		query   string
		want    *ordersv1.ListOrdersRequest
		invalid []problem.Violation
	}{
		{"no parameters", ``, &ordersv1.ListOrdersRequest{}, nil},
		{
			"strings, enums and numbers", `externalOrderId=a%20b&status=SENT&limit=50`,
			&ordersv1.ListOrdersRequest{
				ExternalOrderId: proto.String("a b"),
				Status:          ordersv1.OrderStatus_ORDER_STATUS_SENT.Enum(),
				Limit:           proto.Int32(50),
			},
			nil,
		},
		{
			"a timestamp with an encoded plus", `updatedSince=2024-05-31T12:15:30%2B02:00`,
			&ordersv1.ListOrdersRequest{UpdatedSince: since}, nil,
		},
		{
			"a timestamp with an unencoded plus", `updatedSince=2024-05-31T12:15:30+02:00`,
			&ordersv1.ListOrdersRequest{},
			[]problem.Violation{invalid("updatedSince", unencoded)},
		},
		{
			"an empty timestamp", `updatedSince=`, &ordersv1.ListOrdersRequest{},
			[]problem.Violation{invalid("updatedSince", wantTimestamp)},
		},
		{"unknown parameters", `foo=1&foo=2&external_order_id=x&LIMIT=x&limit[]=x`, &ordersv1.ListOrdersRequest{}, nil},
		{"an empty string as a set one", `after=`, &ordersv1.ListOrdersRequest{After: proto.String("")}, nil},
		{"an empty number", `limit=`, &ordersv1.ListOrdersRequest{}, []problem.Violation{invalid("limit", integer)}},
		{
			"a parameter twice, though equal", `limit=5&limit=5`, &ordersv1.ListOrdersRequest{},
			[]problem.Violation{invalid("limit", "must not be given more than once")},
		},
		{"a negative number and leading zeros", `limit=-007`, &ordersv1.ListOrdersRequest{Limit: proto.Int32(-7)}, nil},
		{"a number with a plus", `limit=%2B5`, &ordersv1.ListOrdersRequest{}, []problem.Violation{invalid("limit", integer)}},
		{"a number past its range", `limit=2147483648`, &ordersv1.ListOrdersRequest{}, []problem.Violation{invalid("limit", in32)}},
		{
			"an enum with its prefix", `status=ORDER_STATUS_SENT`, &ordersv1.ListOrdersRequest{},
			[]problem.Violation{invalid("status", statuses)},
		},
		{"invalid UTF-8", `after=%FF`, &ordersv1.ListOrdersRequest{}, []problem.Violation{invalid("after", "must be valid UTF-8")}},
		{"NUL, which no record has", `externalOrderId=a%00`, &ordersv1.ListOrdersRequest{ExternalOrderId: proto.String("a\x00")}, nil},
		{
			"all violations are in the order of the fields, and the others are set", `limit=x&brandId=b&status=y`,
			&ordersv1.ListOrdersRequest{BrandId: proto.String("b")},
			[]problem.Violation{invalid("status", statuses), invalid("limit", integer)},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got ordersv1.ListOrdersRequest
			require.Equal(t, test.invalid, restjson.UnmarshalQuery(query(t, test.query), &got).Violations)
			require.True(t, proto.Equal(test.want, &got), "%v", &got)
		})
	}
	t.Run("booleans are true or false, and a list is no parameter", func(t *testing.T) {
		require.Equal(t, restjson.Findings{
			Violations: []problem.Violation{invalid("urgent", "must be true or false")}, Ignored: []string{"items", "urgnt"},
		}, restjson.UnmarshalQuery(query(t, "urgnt=true&urgent=1&items=x"), &ordersv1.PlaceOrderRequest{}))
	})
}

func TestQueryParser(t *testing.T) {
	t.Parallel()
	filter := utilities.NewDoubleArray([][]string{{"product_id"}})
	got := &catalogv1.GetProductRequest{ProductId: "p"}
	values := query(t, "productId=other&country=DE&locale=de&locale=fr")

	t.Run("it sets what is well-formed, and leaves what the path binds", func(t *testing.T) {
		require.NoError(t, restjson.QueryParser{}.Parse(got, values, filter))
		require.True(t, proto.Equal(&catalogv1.GetProductRequest{ProductId: "p", Country: "DE"}, got), "%v", got)
	})
	t.Run("it needs no filter", func(t *testing.T) {
		require.NoError(t, restjson.QueryParser{}.Parse(got, values, nil))
		require.Equal(t, "other", got.GetProductId())
	})
	t.Run("it fails on a message that is not supported", func(t *testing.T) {
		err := restjson.QueryParser{}.Parse(newOf(t, "Waits"), values, filter)
		require.EqualError(t, err, "restjson: google.protobuf.Duration is not supported")
	})
}
