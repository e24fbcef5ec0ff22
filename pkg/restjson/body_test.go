package restjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestUnmarshalRefusesTheWholeBody(t *testing.T) {
	t.Parallel()
	const notJSON, duplicate = "the body is not valid JSON, at byte ", "the body has an object with a duplicate member name, at byte "
	tests := []struct {
		name string
		body string
		want string
	}{
		{"a truncated object", `{"urgent":5,"a":`, notJSON + "16"},
		{"a trailing comma", `{"a":1,}`, notJSON + "6"},
		{"a raw control character", "{\"a\":\"\n\"}", notJSON + "6"},
		{"a byte order mark", "\uFEFF{}", notJSON + "0"},
		{"invalid UTF-8 in a value", "{\"externalOrderId\":\"\xff\"}", notJSON + "20"},
		{"invalid UTF-8 in an unknown member", "{\"x\":[\"\xc0\xaf\"]}", notJSON + "7"},
		{"a lone surrogate", `{"externalOrderId":"\ud800"}`, notJSON + "20"},
		{"a duplicate member", `{"urgent":true,"urgent":true}`, duplicate + "15"},
		{"a duplicate member written otherwise", `{"urgent":true,"\u0075rgent":true}`, duplicate + "15"},
		{"a duplicate unknown member, deep inside", `{"x":[{"a":1,"a":1}]}`, duplicate + "13"},
		{"a duplicate map key", `{"items":[{"variations":{"a":"1","a":"2"}}]}`, duplicate + "33"},
		{"a second value", `{} {}`, "the body must end after its JSON object"},
		{"a list", `[{}]`, "the body must be a JSON object"},
		{"null", `null`, "the body must be a JSON object"},
		{
			"unknown members nested too deep", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
			"the body is nested deeper than 100 levels",
		},
		{
			"wrong values nested too deep",
			`{"urgent":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100) + `}`,
			"the body is nested deeper than 100 levels",
		},
		{"a million open brackets", `{"x":` + strings.Repeat("[", 1<<20), "the body is nested deeper than 100 levels"},
		{"bad JSON after invalid fields", `{"urgent":5,"items":7,`, notJSON + "22"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found := decode(test.body, &ordersv1.PlaceOrderRequest{})
			require.Len(t, found, 1)
			require.Equal(t, invalid("", test.want), found[0])
		})
	}
}

func TestHundredLevelsAreAllowed(t *testing.T) {
	t.Parallel()
	body := `{"x":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `,"externalOrderId":"o"}`
	var got ordersv1.PlaceOrderRequest
	require.Empty(t, decode(body, &got))
	require.Equal(t, "o", got.GetExternalOrderId())
}

func TestViolationsAreCapped(t *testing.T) {
	t.Parallel()
	body := `{"items":[` + strings.Repeat("1,", 2000) + `1]}`
	found := decode(body, &ordersv1.PlaceOrderRequest{})
	require.Len(t, found, 1000)
	require.Equal(t, "items[999]", found[999].Field)

	found = decode(body+"!", &ordersv1.PlaceOrderRequest{})
	require.Len(t, found, 1, "what follows the cap is still checked for syntax")
}

func TestAViolationRepeatsNoValue(t *testing.T) {
	t.Parallel()
	const secret = "Zoe"
	for _, body := range []string{
		`{"urgent":"Zoe"}`, `{"status":"Zoe"}`, `{"updatedSince":"Zoe"}`, `{"limit":"Zoe"}`,
		`{"recipient":"Zoe`, `{"a":"Zoe","a":"Zoe"}`, `{"a":Zoe}`, `"Zoe"`, `{} "Zoe"`, `{"Zoe":1,"Zoe":2}`,
	} {
		found := append(decode(body, &ordersv1.PlaceOrderRequest{}), decode(body, &ordersv1.ListOrdersRequest{})...)
		require.NotEmpty(t, found)
		require.NotContains(t, fmt.Sprint(found), secret, body)
	}
}

func TestABodyIsReadUpToABoundOfElements(t *testing.T) {
	t.Parallel()
	const bound = 250_000
	tooMany := func(field string) problem.Violation {
		return problem.Violation{Field: field, Code: problem.FieldInvalid, Message: "holds too many elements"}
	}
	list := func(elements int) string { return "[" + strings.Repeat("{},", elements-1) + "{}]" }
	t.Run("a list", func(t *testing.T) {
		var req ordersv1.PlaceOrderRequest
		body := `{"customFields":` + list(bound+10) + `,"urgent":true}`
		require.Equal(t, []problem.Violation{tooMany("customFields")}, restjson.Unmarshal([]byte(body), &req))
		require.Len(t, req.GetCustomFields(), bound)
		require.True(t, req.GetUrgent(), "what follows is read")
	})
	t.Run("a map", func(t *testing.T) {
		var members []string
		for i := range bound + 10 {
			members = append(members, fmt.Sprintf(`"d%d":"v"`, i))
		}
		var item ordersv1.OrderItemInput
		body := `{"variations":{` + strings.Join(members, ",") + `}}`
		require.Equal(t, []problem.Violation{tooMany("variations")}, restjson.Unmarshal([]byte(body), &item))
		require.Len(t, item.GetVariations(), bound)
	})
	t.Run("all lists", func(t *testing.T) {
		var req ordersv1.PlaceOrderRequest
		body := `{"customFields":` + list(bound) + `,"items":[{},{}]}`
		require.Equal(t, []problem.Violation{tooMany("items")}, restjson.Unmarshal([]byte(body), &req))
		require.Len(t, req.GetCustomFields(), bound)
	})
}

func TestUnmarshalTimestamps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		give string
		want *timestamppb.Timestamp // nil: refused
	}{
		{"seconds and Z", `"2024-05-31T10:15:30Z"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"nanoseconds", `"2024-05-31T10:15:30.123456789Z"`, &timestamppb.Timestamp{Seconds: 1717150530, Nanos: 123456789}},
		{"the first instant", `"0001-01-01T00:00:00Z"`, &timestamppb.Timestamp{Seconds: -62135596800}},
		{"the last second", `"9999-12-31T23:59:59Z"`, &timestamppb.Timestamp{Seconds: 253402300799}},
		{"lower case", `"2024-05-31t10:15:30z"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"no seconds", `"2024-05-31T10:15Z"`, &timestamppb.Timestamp{Seconds: 1717150500}},
		{"an offset without a colon", `"2024-05-31T12:15:30+0200"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"an offset of hours", `"2024-05-31T08:15:30-02"`, &timestamppb.Timestamp{Seconds: 1717150530}},
		{"a comma before the fraction", `"2024-05-31T10:15:30,5Z"`, &timestamppb.Timestamp{Seconds: 1717150530, Nanos: 500000000}},
		{"midnight at the end of a day", `"2024-02-28T24:00Z"`, &timestamppb.Timestamp{Seconds: 1709164800}},
		{
			"midnight with seconds, a fraction and an offset", `"2024-02-28T24:00:00.000+01:00"`,
			&timestamppb.Timestamp{Seconds: 1709161200},
		},
		{"no zone", `"2024-05-31T10:15:30"`, nil},
		{"a space for the T", `"2024-05-31 10:15:30Z"`, nil},
		{"a fraction without digits", `"2024-05-31T10:15:30.Z"`, nil},
		{"a day that is not in the month", `"2023-02-29T00:00:00Z"`, nil},
		{"an offset of 24 hours", `"2024-05-31T10:15:30+24:00"`, nil},
		{"an offset of 60 minutes", `"2024-05-31T10:15:30+01:60"`, nil},
		{"a time past midnight at the end of a day", `"2024-05-31T24:00:01Z"`, nil},
		{"a fraction past midnight at the end of a day", `"2024-05-31T24:00:00.5Z"`, nil},
		{"midnight after the last day", `"9999-12-31T24:00Z"`, nil},
		{"an offset of a digit", `"2024-05-31T10:15:30+2"`, nil},
		{"before the first instant once it is in UTC", `"0001-01-01T00:00:00+01:00"`, nil},
		{"past the last instant once it is in UTC", `"9999-12-31T23:59:59-01:00"`, nil},
		{"white space", `" 2024-05-31T10:15:30Z"`, nil},
		{"an object", `{"seconds":1}`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got ordersv1.ListOrdersRequest
			found := decode(`{"updatedSince":`+test.give+`}`, &got)
			require.True(t, proto.Equal(test.want, got.GetUpdatedSince()), "%v", got.GetUpdatedSince())
			if test.want == nil {
				require.Equal(t, []problem.Violation{invalid("updatedSince", wantTimestamp)}, found)
			} else {
				require.Empty(t, found)
			}
		})
	}
}

func TestIgnoredMembersAreNamedByTheirPaths(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 30)
	for i := range cap(many) {
		many = append(many, fmt.Sprintf(`"x%02d":{"y":1}`, i))
	}
	for body, want := range map[string][]string{
		`{}`:                             nil,
		`{"urgent":true,"brandId":null}`: nil,
		`{"Urgent":true,"urgentt":null}`: {"Urgent", "urgentt"},
		`{"a":{"b":1},"client":{"nam":1,"name":"x"},"items":[{},{"productid":"x"}]}`: {"a", "client.nam", "items[1].productid"},
		`{"items":[{"variations":{"own":"name"}}]}`:                                  nil,
		`{"a\nb":1,"` + strings.Repeat("å", 100) + `":1}`:                            {"a\uFFFDb", strings.Repeat("å", 64) + "…"},
		`{"urgent":`: nil,
	} {
		require.Equal(t, want, restjson.UnmarshalBody([]byte(body), &ordersv1.PlaceOrderRequest{}).Ignored, body)
	}
	named := restjson.UnmarshalBody([]byte("{"+strings.Join(many, ",")+"}"), &ordersv1.PlaceOrderRequest{}).Ignored
	require.Len(t, named, 20)
	require.Equal(t, "x19", named[19])
}
