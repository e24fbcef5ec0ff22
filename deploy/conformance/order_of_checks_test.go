package conformance_test

import (
	"crypto/rand"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

// testOrderOfChecks sends orders with two errors each. The checks of the gateway are tested there.
func testOrderOfChecks(t *testing.T, p *platform) {
	f := newFixture(t, p)
	first := f.postCall("/orders", f.body(t, with("externalOrderId", "taken")))
	first.IdempotencyKey = rand.Text()
	require.Equal(t, http.StatusCreated, f.Do(t, first).Status)
	// In the order in which they are answered: those of the request come first, then the codes as they are in the table of the
	// API, 422 before 409. Errors of one group exclude each other.
	errors := []struct {
		code  problem.Code
		group string
		spoil change
	}{
		{"invalid_request", "", with("urgent", "yes")},
		{"invalid_request", "", without("client")},
		{"brand_required", "brand", without("brandId")},
		{"brand_not_found", "brand", with("brandId", uuid.NewString())},
		{"campaign_not_found", "brand", ofCampaign(uuid.NewString())},
		{"product_not_available", "gift", with("items.0.productId", uuid.NewString())},
		{"not_deliverable_to_country", "gift", with("recipient.address.country", "IN")},
		{"invalid_variations", "", with("items.0.variations", record{"Size": "XXL"})},
		{"invalid_custom_fields", "", with("customFields", []any{record{"fieldId": f.choice, "textValue": "Funeral"}})},
		{"manager_not_found", "", with("managerEmail", "nobody@conformance.example")},
		{"external_order_id_conflict", "", with("externalOrderId", "taken")},
	}
	requirement(t, "CHO-16", func(t *testing.T) {
		for i, earlier := range errors {
			again := first
			again.Body = f.body(t, with("courierComment", "changed"), earlier.spoil)
			f.Do(t, again).Problem(t, "idempotency_key_reused")
			for _, later := range errors[i+1:] {
				if earlier.group == "" || earlier.group != later.group {
					f.refuse(t, earlier.code, later.spoil, earlier.spoil)
				}
			}
		}
	})
}
