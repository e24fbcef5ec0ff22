package restjson_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// FuzzUnmarshal: the codec never panics. An accepted body is JSON, and the encoding of its message reads back as the same
// message.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		placeOrderBody, `{}`, ``, `{"urgent":null}`, `{"items":[{"variations":{"a":"\ud83c\udf81"}},null]}`,
		`{"limit":1e2,"status":"SENT","updatedSince":"2024-05-31T10:15:30.5+02:00"}`, `{"limit":-0.000e-999}`,
		`{"brandIds":[1,"a"],"scopes":["ORDERS",3],"tenantVersion":9223372036854775808}`,
		`{"amount":1e999,"currency":"\u0000"}`, `{"items":[{"listed":true}]}`, `[`, `{"a":{"a":[[[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, m := range []proto.Message{
			&ordersv1.PlaceOrderRequest{}, &ordersv1.ListOrdersRequest{}, &ordersv1.ListOrdersResponse{},
			&commonv1.Principal{}, &commonv1.Money{}, &catalogv1.ListProductsResponse{},
		} {
			found := decode(string(body), m)
			for _, v := range found {
				require.Equal(t, "invalid", v.Code)
				require.NotEmpty(t, v.Message)
			}
			if len(found) > 0 {
				continue
			}
			require.True(t, len(strings.Trim(string(body), " \t\r\n")) == 0 || json.Valid(body))
			first, err := restjson.Marshal(m)
			require.NoError(t, err)
			again := m.ProtoReflect().New().Interface()
			require.Empty(t, decode(string(first), again))
			dropNanoseconds(t, m)
			require.True(t, proto.Equal(m, again), "%v was written as %s", m, first)
		}
	})
}

// dropNanoseconds leaves of timestamps what is written: microseconds.
func dropNanoseconds(t *testing.T, m proto.Message) {
	t.Helper()
	require.NoError(t, protorange.Range(m.ProtoReflect(), func(found protopath.Values) error {
		if message, ok := found.Index(-1).Value.Interface().(protoreflect.Message); ok {
			if at, ok := message.Interface().(*timestamppb.Timestamp); ok {
				at.Nanos -= at.GetNanos() % 1000
			}
		}
		return nil
	}))
}

// FuzzUnmarshalQuery: the codec never panics, and a violation names one parameter that was sent.
func FuzzUnmarshalQuery(f *testing.F) {
	for _, seed := range []string{
		"status=SENT&limit=5&updatedSince=2024-05-31T12:15:30+02:00&after=%00&after=%FF", "limit=-0&limit=&status=&updatedSince=",
		"updatedSince=2024-05-31T12:15:30%2B02:00", "updatedSince=2024-05-31T12:15:30Z&updatedSince=",
		"updatedSince=2024-05-31%2012:15:30",
		"limit=2147483648", "limit=0x10", "limit=1e2", "limit=%31", "status=sent", "status=ORDER_STATUS_SENT", "status=2",
		"updated_since=x",
		"limit[]=1", "limit=1;after=x", "brandId=%C3%28", "externalOrderId=%F0%9F%8E%81", "&&==&a&=", "limit=1&Limit=2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		values, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		var m ordersv1.ListOrdersRequest
		found := restjson.UnmarshalQuery(values, &m).Violations
		named := map[string]bool{}
		for _, v := range found {
			require.Equal(t, "invalid", v.Code)
			require.NotEmpty(t, v.Message)
			require.Contains(t, values, v.Field)
			require.False(t, named[v.Field])
			named[v.Field] = true
		}
	})
}

// FuzzUnmarshalAgreesWithProtojson: protojson accepts every body that this codec accepts, and both read the same message. Three
// differences are removed first: enum values without prefix, decimals as numbers, and timestamps with digits past the
// nanosecond.
func FuzzUnmarshalAgreesWithProtojson(f *testing.F) {
	for _, seed := range []string{
		placeOrderBody, `{}`, `{"urgent":true,"urgent":false}`, `{"items":[{"budget":{"amount":1.50,"currency":"EUR"}}]}`,
		`{"items":[{"budget":{"amount":"-0.1e+2"}}]}`, `{"customFields":[{"fieldId":"a","checked":false},{"textValue":""}]}`,
		`{"client":{"name":"\u00e5\ud83c\udf81"}}`, `{"client":null,"items":null,"urgent":null}`, `{"unknown":{"a":[1,{"b":null}]}}`,
		`{"limit":1e2,"status":"SENT","updatedSince":"2024-05-31T10:15:30.5+02:00","after":"x"}`, `{"limit":-1,"brandId":""}`,
		`{"limit":2147483648}`, `{"limit":1.0}`, `{"updatedSince":"0001-01-01T00:00:00Z"}`,
		`{"updatedSince":"9999-12-31T23:59:59.999999999Z"}`,
		`{"items":[{"variations":{"Size":"M","":"x"}}]}`, " \t\r\n{ }\n", `{"externalOrderId":"\u0001\u007f\u2028"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(bytes.TrimSpace(body)) == 0 {
			return // Nothing counts as an object here.
		}
		for _, ours := range []proto.Message{&ordersv1.PlaceOrderRequest{}, &ordersv1.ListOrdersRequest{}} {
			theirs := ours.ProtoReflect().New().Interface()
			if len(decode(string(body), ours)) > 0 {
				continue
			}
			plain, ok := asProtojson(t, body, ours.ProtoReflect().Descriptor())
			if !ok {
				continue
			}
			require.NoError(t, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(plain, theirs), "%s", plain)
			require.True(t, proto.Equal(ours, theirs), "protojson reads %v\nwe read %v\nfrom %s", theirs, ours, body)
		}
	})
}

// asProtojson removes the three differences from a body. A body with field names of the protocol files cannot be compared:
// protojson reads them, this codec ignores them. Nor can one with a date-time of ISO 8601 that is not of RFC 3339.
func asProtojson(t *testing.T, body []byte, desc protoreflect.MessageDescriptor) (plain []byte, ok bool) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var members map[string]any
	require.NoError(t, decoder.Decode(&members))
	if !undo(desc, members) {
		return nil, false
	}
	plain, err := json.Marshal(members)
	require.NoError(t, err)
	return plain, true
}

// rfc3339 matches what protojson reads; ISO 8601 has more.
var rfc3339 = regexp.MustCompile(`^.{10}T([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

var pastNanosecond = regexp.MustCompile(`(\.\d{9})\d+`)

func undo(desc protoreflect.MessageDescriptor, members map[string]any) bool {
	for name, v := range members {
		fd := desc.Fields().ByJSONName(name)
		switch {
		case fd == nil && desc.Fields().ByTextName(name) != nil:
			return false
		case fd == nil || fd.IsMap() || v == nil:
		case fd.Enum() != nil:
			zero := string(fd.Enum().Values().ByNumber(0).Name())
			members[name] = strings.TrimSuffix(zero, "UNSPECIFIED") + v.(string)
		case fd.Kind() == protoreflect.StringKind:
			if n, ok := v.(json.Number); ok {
				members[name] = n.String()
			}
		case fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Timestamp":
			if !rfc3339.MatchString(v.(string)) {
				return false
			}
			members[name] = pastNanosecond.ReplaceAllString(v.(string), "$1")
		case fd.Message() != nil:
			if !undoNested(fd.Message(), v) {
				return false
			}
		}
	}
	return true
}

func undoNested(desc protoreflect.MessageDescriptor, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return undo(desc, v)
	case []any:
		for _, element := range v {
			if !undoNested(desc, element) {
				return false
			}
		}
	}
	return true
}
