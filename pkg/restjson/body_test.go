package restjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
		{"an unclosed object", `{"urgent":5`, notJSON + "11"},
		{"a missing colon", `{"a" 1}`, notJSON + "5"},
		{"a trailing comma", `{"a":1,}`, notJSON + "6"},
		{"a trailing comma in a list", `{"items":[1,]}`, notJSON + "11"},
		{"a member name that is no string", `{1:2}`, notJSON + "1"},
		{"single quotes", `{'a':1}`, notJSON + "1"},
		{"a comment", `{/**/}`, notJSON + "1"},
		{"a leading zero", `{"a":01}`, notJSON + "6"},
		{"a plus sign", `{"a":+1}`, notJSON + "5"},
		{"NaN", `{"a":NaN}`, notJSON + "5"},
		{"an unknown escape", `{"externalOrderId":"\x"}`, notJSON + "20"},
		{"a raw control character", "{\"a\":\"\n\"}", notJSON + "6"},
		{"a byte order mark", "\uFEFF{}", notJSON + "0"},
		{"invalid UTF-8 in a value", "{\"externalOrderId\":\"\xff\"}", notJSON + "20"},
		{"invalid UTF-8 in an unknown member", "{\"x\":[\"\xc0\xaf\"]}", notJSON + "7"},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", notJSON + "2"},
		{"a lone surrogate", `{"externalOrderId":"\ud800"}`, notJSON + "20"},
		{"a surrogate pair the wrong way round", `{"externalOrderId":"\udf81\ud83c"}`, notJSON + "20"},
		{"a duplicate member", `{"urgent":true,"urgent":true}`, duplicate + "15"},
		{"a duplicate member written otherwise", `{"urgent":true,"\u0075rgent":true}`, duplicate + "15"},
		{"a duplicate unknown member, deep inside", `{"x":[{"a":1,"a":1}]}`, duplicate + "13"},
		{"a duplicate map key", `{"items":[{"variations":{"a":"1","a":"2"}}]}`, duplicate + "33"},
		{"a second value", `{} {}`, "the body must end after its JSON object"},
		{"rubbish after the object", `{}x`, "the body must end after its JSON object"},
		{"a list", `[{}]`, "the body must be a JSON object"},
		{"a string", `"x"`, "the body must be a JSON object"},
		{"null", `null`, "the body must be a JSON object"},
		{"unknown members nested too deep", `{"x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, "the body is nested deeper than 100 levels"},
		{"wrong values nested too deep", `{"urgent":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100) + `}`, "the body is nested deeper than 100 levels"},
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
