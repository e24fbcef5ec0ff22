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
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// dice turns the fuzzer's bytes into choices; past their end every choice is 0.
type dice []byte

func (d *dice) roll(sides int) int {
	if len(*d) == 0 {
		return 0
	}
	n := int((*d)[0]) % sides
	*d = (*d)[1:]
	return n
}

func (d *dice) number() (n uint64) {
	for range d.roll(9) {
		n = n<<8 | uint64(d.roll(256))
	}
	return n
}

// text takes the next bytes as they come, without what is not UTF-8 and without NUL.
func (d *dice) text() string {
	n := min(d.roll(40), len(*d))
	raw := string((*d)[:n])
	*d = (*d)[n:]
	return strings.ReplaceAll(strings.ToValidUTF8(raw, "é"), "\x00", "")
}

// fill sets fields of m by choice. Timestamps are whole microseconds and enum values known, so
// that nothing is lost in the JSON.
func (d *dice) fill(m protoreflect.Message, depth int) {
	if ts, ok := m.Interface().(*timestamppb.Timestamp); ok {
		ts.Seconds = int64(d.number()%(253402300799+62135596800)) - 62135596800
		ts.Nanos = int32(d.number()%1e6) * 1000
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if d.roll(3) == 0 || depth > 4 {
			continue
		}
		switch {
		case fd.IsMap():
			for range d.roll(4) {
				m.Mutable(fd).Map().Set(protoreflect.ValueOfString(d.text()).MapKey(), protoreflect.ValueOfString(d.text()))
			}
		case fd.IsList() && fd.Message() != nil:
			for range d.roll(4) {
				d.fill(m.Mutable(fd).List().AppendMutable().Message(), depth+1)
			}
		case fd.IsList():
			for range d.roll(4) {
				m.Mutable(fd).List().Append(d.scalar(fd))
			}
		case fd.Message() != nil:
			d.fill(m.Mutable(fd).Message(), depth+1)
		default:
			m.Set(fd, d.scalar(fd))
		}
	}
}

func (d *dice) scalar(fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(d.roll(2) == 1)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(d.number()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(d.number()))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(1 + d.roll(fd.Enum().Values().Len()-1)))
	default:
		return protoreflect.ValueOfString(d.text())
	}
}

// withPrefixes rewrites our JSON of a message into what protojson reads: enum values get their prefix back. It uses no code of
// the codec.
func withPrefixes(desc protoreflect.MessageDescriptor, members map[string]any) {
	for i := range desc.Fields().Len() {
		fd := desc.Fields().Get(i)
		v, ok := members[fd.JSONName()]
		if !ok || v == nil || fd.IsMap() {
			continue
		}
		elements, isList := v.([]any)
		if !isList {
			elements = []any{v}
		}
		for i, element := range elements {
			switch element := element.(type) {
			case map[string]any:
				withPrefixes(fd.Message(), element)
			case string:
				if fd.Enum() != nil {
					zero := string(fd.Enum().Values().ByNumber(0).Name())
					elements[i] = strings.TrimSuffix(zero, "UNSPECIFIED") + element
				}
			}
		}
		if !isList {
			members[fd.JSONName()] = elements[0]
		}
	}
}

// FuzzMarshal: protojson and this package read the written JSON as the same message.
func FuzzMarshal(f *testing.F) {
	f.Add([]byte(nil), byte(0))
	f.Add([]byte(placeOrderBody), byte(0))
	for i := range byte(4) {
		f.Add([]byte("\x01\x05hello\x02\x09\x08\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x02\x03\x04\"\\<\x1f\xe2\x80\xa8"+
			"\x02\x02\x02\x02\x03\x01\x05"+strings.Repeat("\x02\x07ab\x01", 60)), i)
	}
	f.Fuzz(func(t *testing.T, raw []byte, which byte) {
		kinds := []proto.Message{&ordersv1.ListOrdersResponse{}, &ordersv1.PlaceOrderRequest{}, &commonv1.Principal{}}
		m := kinds[int(which)%len(kinds)]
		d := dice(raw)
		d.fill(m.ProtoReflect(), 0)

		ours, err := restjson.Marshal(m)
		require.NoError(t, err)

		var members map[string]any
		decoder := json.NewDecoder(strings.NewReader(string(ours)))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&members))
		withPrefixes(m.ProtoReflect().Descriptor(), members)
		prefixed, err := json.Marshal(members)
		require.NoError(t, err)
		theirs := m.ProtoReflect().New().Interface()
		require.NoError(t, protojson.Unmarshal(prefixed, theirs))
		require.True(t, proto.Equal(m, theirs), "protojson reads %v\nfrom %s", theirs, ours)

		back := m.ProtoReflect().New().Interface()
		require.Empty(t, decode(string(ours), back))
		require.True(t, proto.Equal(m, back))
	})
}

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
			second, err := restjson.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(first), string(second))
		}
	})
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
