package restjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestListsAndMapsAreReadUpToABound(t *testing.T) {
	t.Parallel()
	const bound, given = 2000, 100_000
	tooMany := func(field string) []problem.Violation {
		return []problem.Violation{{Field: field, Code: problem.FieldInvalid, Message: "holds too many elements"}}
	}
	t.Run("a list", func(t *testing.T) {
		var req ordersv1.PlaceOrderRequest
		body := `{"customFields":[` + strings.Repeat("{},", given-1) + `{}],"urgent":true}`
		require.Equal(t, tooMany("customFields"), restjson.Unmarshal([]byte(body), &req))
		require.Len(t, req.GetCustomFields(), bound)
		require.True(t, req.GetUrgent(), "what follows is read")
	})
	t.Run("a map", func(t *testing.T) {
		var members []string
		for i := range given {
			members = append(members, fmt.Sprintf(`"d%d":"v"`, i))
		}
		var item ordersv1.OrderItemInput
		body := `{"variations":{` + strings.Join(members, ",") + `}}`
		require.Equal(t, tooMany("variations"), restjson.Unmarshal([]byte(body), &item))
		require.Len(t, item.GetVariations(), bound)
	})
	t.Run("as many as allowed", func(t *testing.T) {
		var req ordersv1.PlaceOrderRequest
		body := `{"customFields":[` + strings.Repeat("{},", bound-1) + `{}]}`
		require.Empty(t, restjson.Unmarshal([]byte(body), &req))
	})
}
