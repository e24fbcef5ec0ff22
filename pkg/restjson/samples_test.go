package restjson_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const placeOrderBody = `{
  "externalOrderId": "crm-order-4711",
  "externalRecipientId": "recipient-81723",
  "campaignId": "0190d2b4-1111-7a53-9f10-0123456789ab",
  "items": [{
    "productId": "0190d2b4-2222-7a53-9f10-0123456789ab",
    "variations": {"Size": "M", "Colour": "Sea green"}
  }],
  "client": {"name": "Acme GmbH", "email": "gifts@acme.example"},
  "recipient": {
    "name": "Zoë Müller", "phone": "+49 30 1234567", "email": "zoe@acme.example",
    "address": {"street": "Unter den Linden 1", "city": "Berlin", "postalCode": "10117", "country": "DE"}
  },
  "courierComment": "Ring twice",
  "urgent": true,
  "customFields": [{"fieldId": "0190d2b4-3333-7a53-9f10-0123456789ab", "textValue": "Cost centre 42"}]
}`

// bodyOfNames is an object of n members that no message knows.
func bodyOfNames(n int) []byte {
	body := []byte("{")
	for i := range n {
		body = fmt.Appendf(body, `"%x":1,`, i)
	}
	body[len(body)-1] = '}'
	return body
}

// A set of names would take memory, and with it time, for each of them.
func TestNamesTakeLittleMemory(t *testing.T) { //nolint:paralleltest // It counts all allocations of the process.
	body := bodyOfNames(100_000)
	allocations := testing.AllocsPerRun(3, func() { require.Empty(t, restjson.Unmarshal(body, &ordersv1.PlaceOrderRequest{})) })
	require.Less(t, allocations, 1000.0)
}
