package restjson_test

import (
	"bytes"
	"net/http"
	"testing"

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
