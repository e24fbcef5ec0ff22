package restjson_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// body is a request body that keeps what is found in it.
type body struct {
	*bytes.Buffer

	bound []string
	found restjson.Findings
}

func (b *body) Close() error { return nil }

func (b *body) Bound() []string { return b.bound }

func (b *body) SetFindings(found restjson.Findings) { b.found = found }

func TestMarshalerDecodes(t *testing.T) {
	t.Parallel()
	from := &body{
		Buffer: bytes.NewBufferString(`{"urgnt":true,"urgent":1,"brandId":5,"items":[{"budget":{"amout":1}}]}`),
		bound:  []string{"brand_id"},
	}
	var got ordersv1.PlaceOrderRequest
	require.NoError(t, restjson.Marshaler{}.NewDecoder(from).Decode(&got))
	require.Equal(t, []problem.Violation{invalid("urgent", "must be a boolean")}, from.found.Violations)
	require.Equal(t, []string{"urgnt", "brandId", "items[0].budget.amout"}, from.found.Ignored)
	require.Nil(t, got.BrandId)

	require.Error(t, restjson.Marshaler{}.NewDecoder(http.NoBody).Decode(&got), "nothing takes what is found")
	require.Error(t, restjson.Marshaler{}.NewDecoder(from).Decode("no message"))
}

func TestMarshalerEncodes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "application/json", restjson.Marshaler{}.ContentType(nil))
	for want, give := range map[string]any{
		`null`:                        nil,
		`{"amount":"","currency":""}`: &commonv1.Money{},
		`[]`:                          []*commonv1.Money(nil),
		`[{"id":"a","name":"","slug":"","primaryColour":null,"logoUrl":null},null]`: []*tenantsv1.Brand{{Id: "a"}, nil},
		`["1970-01-01T00:00:00Z"]`: []*timestamppb.Timestamp{{}},
	} {
		got, err := restjson.Marshaler{}.Marshal(give)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	_, err := restjson.Marshaler{}.Marshal([]chan int{nil})
	require.EqualError(t, err, "restjson: []chan int is not a message or a list of messages")
	var out bytes.Buffer
	encoder := restjson.Marshaler{}.NewEncoder(&out)
	require.NoError(t, encoder.Encode(&tenantsv1.BrandIds{Ids: []string{"a"}}))
	require.NoError(t, encoder.Encode([]*tenantsv1.Brand(nil)))
	require.Equal(t, `["a"][]`, out.String())
	require.Error(t, encoder.Encode(make(chan int)))
	require.Equal(t, `["a"][]`, out.String(), "nothing is written of an invalid value")
}

// brands answers ListBrands; placing an order echoes what was read.
type brands struct {
	tenantsv1.UnimplementedTenantsServiceServer
	list []*tenantsv1.Brand
}

func (b brands) ListBrands(context.Context, *tenantsv1.ListBrandsRequest) (*tenantsv1.ListBrandsResponse, error) {
	return &tenantsv1.ListBrandsResponse{Brands: b.list}, nil
}

type orders struct {
	ordersv1.UnimplementedOrdersServiceServer
	placed *ordersv1.PlaceOrderRequest
	listed *ordersv1.ListOrdersRequest
}

func (o *orders) PlaceOrder(_ context.Context, req *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	o.placed = req
	return &ordersv1.PlaceOrderResponse{Order: &ordersv1.Order{Id: "o"}}, nil
}

func (o *orders) ListOrders(_ context.Context, req *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	o.listed = req
	return &ordersv1.ListOrdersResponse{}, nil
}

func TestGatewaySpeaksThisJSON(t *testing.T) {
	t.Parallel()
	mux := runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, restjson.Marshaler{}),
		runtime.SetQueryParameterParser(restjson.QueryParser{}),
	)
	served := &orders{}
	require.NoError(t, tenantsv1.RegisterTenantsServiceHandlerServer(t.Context(), mux, brands{}))
	require.NoError(t, ordersv1.RegisterOrdersServiceHandlerServer(t.Context(), mux, served))
	serve := func(r *http.Request) string {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, r)
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		require.Equal(t, "application/json", answer.Header().Get("Content-Type"))
		return answer.Body.String()
	}

	t.Run("a response body without elements is an empty list", func(t *testing.T) {
		require.Equal(t, `[]`, serve(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/brands", nil)))
	})
	t.Run("an invalid request reaches the service, and the body has its violations", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders", nil)
		from := &body{Buffer: bytes.NewBufferString(`{"externalOrderId":"x","urgent":"no"}`)}
		r.Body = from
		require.Contains(t, serve(r), `{"id":"o","reference":""`)
		require.Equal(t, "x", served.placed.GetExternalOrderId())
		require.Equal(t, []problem.Violation{invalid("urgent", "must be a boolean")}, from.found.Violations)
	})
	t.Run("an invalid query parameter does not stop the others", func(t *testing.T) {
		answer := serve(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/orders?status=SENT&limit=x", nil))
		require.JSONEq(t, `{"items":[],"nextCursor":null}`, answer)
		require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_SENT, served.listed.GetStatus())
		require.Nil(t, served.listed.Limit)
	})
}
