package restjson_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// FuzzUnmarshalAgreesWithProtojson: of a body that both take, both understand the same; and what
// this codec takes, protojson takes too, once three liberties are undone: enum values without their
// prefix, decimals as numbers, and timestamps with digits past the nanosecond.
func FuzzUnmarshalAgreesWithProtojson(f *testing.F) {
	for _, seed := range []string{
		placeOrderBody, `{}`, `{"urgent":true,"urgent":false}`, `{"items":[{"budget":{"amount":1.50,"currency":"EUR"}}]}`,
		`{"items":[{"budget":{"amount":"-0.1e+2"}}]}`, `{"customFields":[{"fieldId":"a","checked":false},{"textValue":""}]}`,
		`{"client":{"name":"\u00e5\ud83c\udf81"}}`, `{"client":null,"items":null,"urgent":null}`, `{"unknown":{"a":[1,{"b":null}]}}`,
		`{"limit":1e2,"status":"SENT","updatedSince":"2024-05-31T10:15:30.5+02:00","after":"x"}`, `{"limit":-1,"brandId":""}`,
		`{"limit":2147483648}`, `{"limit":1.0}`, `{"updatedSince":"0001-01-01T00:00:00Z"}`, `{"updatedSince":"9999-12-31T23:59:59.999999999Z"}`,
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

// asProtojson undoes in a body what protojson does not know. A body that uses the names of the
// protocol files, which protojson reads and this codec takes for unknown, cannot be compared.
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
