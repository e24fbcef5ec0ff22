package e2e_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func repeated(n int, element any) []any { return slices.Repeat([]any{element}, n) }

// testRefusedBatches sends what is wrong with a batch as a whole: nothing of it is made.
func (p *platform) testRefusedBatches(t *testing.T, key string) {
	ann := map[string]any{"label": "Ann"}
	for name, c := range map[string]struct {
		change func(batch map[string]any)
		status int
		code   string
		// field and fieldCode of an invalid_request.
		field, fieldCode string
	}{
		"no selection": {func(b map[string]any) { delete(b, "brandId"); delete(b, "productIds") }, 400, "invalid_request", "campaignId", "required"},
		"two selections": {
			func(b map[string]any) { b["campaignId"] = p.env["GIFTING_CAMPAIGN_ID"] },
			400, "invalid_request", "campaignId", "not_allowed_with_catalog_selection",
		},
		"a brand without gifts":     {func(b map[string]any) { b["productIds"] = nil }, 400, "invalid_request", "productIds", "required"},
		"gifts that are no list":    {func(b map[string]any) { b["productIds"] = "x" }, 400, "invalid_request", "productIds", "invalid"},
		"a recipient that is none":  {func(b map[string]any) { b["recipients"] = []any{1} }, 400, "invalid_request", "recipients[0]", "invalid"},
		"an empty list of gifts":    {func(b map[string]any) { b["productIds"] = []any{} }, 422, "no_products", "", ""},
		"an unknown gift":           {func(b map[string]any) { b["productIds"] = []any{uuid.NewString()} }, 422, "product_not_found", "", ""},
		"an unknown brand":          {func(b map[string]any) { b["brandId"] = uuid.NewString() }, 422, "brand_not_found", "", ""},
		"recipients absent":         {func(b map[string]any) { delete(b, "recipients") }, 422, "no_recipients", "", ""},
		"recipients null":           {func(b map[string]any) { b["recipients"] = nil }, 422, "no_recipients", "", ""},
		"recipients empty":          {func(b map[string]any) { b["recipients"] = []any{} }, 422, "no_recipients", "", ""},
		"one recipient too many":    {func(b map[string]any) { b["recipients"] = repeated(1001, ann) }, 422, "too_many_recipients", "", ""},
		"far too many recipients":   {func(b map[string]any) { b["recipients"] = repeated(5000, ann) }, 422, "too_many_recipients", "", ""},
		"an unknown campaign alone": {func(b map[string]any) { toCampaign(p)(b); b["campaignId"] = uuid.NewString() }, 422, "campaign_not_found", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			refused := requireProblem(t, p.post(t, key, "/personal-links:create-batch", p.batch(t, c.change)), c.status, c.code)
			if c.status != http.StatusBadRequest {
				return
			}
			faults := refused["errors"].([]any)
			require.Len(t, faults, 1)
			require.Equal(t, c.field, faults[0].(map[string]any)["field"])
			require.Equal(t, c.fieldCode, faults[0].(map[string]any)["code"])
		})
	}
}
