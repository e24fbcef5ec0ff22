package conformance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

func testProblems(t *testing.T, p *platform) {
	f := newFixture(t, p)
	order := f.orderIn(t, "SENT")
	problems := []record{
		f.Get(t, "", "/me").Problem(t, "invalid_api_key"),
		f.Get(t, f.key, "/nothing").Problem(t, "not_found"),
		f.Post(t, f.key, "/orders", "{}").Problem(t, "invalid_request"),
		f.refuse(t, "brand_required", without("brandId")),
		f.Post(t, f.key, "/orders/"+idOf(order)+":cancel", `{"reason": "x"}`).Problem(t, "not_cancellable"),
	}
	requirement(t, "ERR-1", func(t *testing.T) {
		for _, problem := range problems {
			address, anchor, ok := strings.Cut(problem["type"].(string), "#")
			require.True(t, ok)
			require.Equal(t, problem["code"], anchor)
			require.Contains(t, harness.Visit(t, address).Body, `id="`+anchor+`"`)
		}
	})
	requirement(t, "ERR-2", func(t *testing.T) {
		again := f.refuse(t, "brand_required", without("brandId"), with("urgent", true))
		require.Equal(t, problems[3]["title"], again["title"])
		for _, problem := range problems {
			require.NotEmpty(t, problem["title"])
			require.Less(t, len(problem["title"].(string)), 60)
		}
	})
	requirement(t, "ERR-3", func(t *testing.T) {
		for i, status := range []int{401, 404, 400, 422, 409} {
			require.InDelta(t, status, problems[i]["status"], 0)
		}
	})
	requirement(t, "ERR-4", func(t *testing.T) {
		for _, problem := range problems {
			require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, problem["code"])
		}
	})
	requirement(t, "ERR-5", func(t *testing.T) {
		for _, problem := range problems {
			require.Contains(t, problem["detail"], " ")
		}
	})
	requirement(t, "ERR-6", func(t *testing.T) {
		list, _ := problems[2]["errors"].([]any)
		require.Len(t, list, 4)
		for _, violation := range list {
			require.ElementsMatch(t, []string{"field", "code", "message"}, namesOf(violation.(record)))
		}
	})
	requirement(t, "ERR-7", func(t *testing.T) {
		require.Equal(t, "SENT", problems[4]["currentStatus"])
		require.Equal(t, "SENT", f.sendUpdate(t, order, `"urgent": true`).Problem(t, "not_editable")["currentStatus"])
		require.NotContains(t, problems[3], "currentStatus")
	})
	requirement(t, "ERR-8", func(t *testing.T) {
		taken := with("externalOrderId", order["externalOrderId"])
		require.Equal(t, order["id"], f.refuse(t, "external_order_id_conflict", taken)["orderId"])
		body := f.body(t, taken, with("brandId", f.other))
		require.NotContains(t, f.Post(t, f.newKey(t, ofBrand(f.other)), "/orders", body).Object(t), "orderId")
	})
}
