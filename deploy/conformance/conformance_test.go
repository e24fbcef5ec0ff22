package conformance_test

import (
	"testing"

	"github.com/partnergifting/platform/deploy/conformance/harness"
)

type (
	platform = harness.Platform
	call     = harness.Call
	answer   = harness.Answer
	event    = harness.Event
)

// TestPlatform checks every requirement of requirements.txt, by section. Each section makes tenants of its own.
func TestPlatform(t *testing.T) {
	t.Parallel()
	p := harness.Open(t)
	t.Cleanup(func() { requirements.finish(t, p.Remote()) })
	t.Run("products", func(t *testing.T) { testProductLists(t, p) }) // Alone, because all tenants have one catalog.
	for name, section := range map[string]func(t *testing.T, p *platform){
		"general": testGeneral, "tenant": testTenants, "key": testKeys, "brand": testBrands, "product": testProducts, "images": testImages,
		"campaign": testCampaigns, "campaign states": testCampaignStates, "order": testOrders, "order states": testOrderStates,
		"placing": testPlacing, "orders": testOrderLists, "correcting": testCorrecting, "cancelling": testCancelling,
		"messages": testMessages, "link": testLinks, "link states": testLinkStates, "batch": testBatches, "links": testLinkLists,
		"conventions": testConventions, "scopes": testScopes, "authentication": testAuthentication, "events": testEvents,
		"delivery": testDelivery, "feed": testFeed, "webhook test": testWebhookTests, "problems": testProblems, "codes": testCodes,
		"limits": testLimits, "versions": testVersions, "choices": testChoices, "stock": testStock, "idempotency": testIdempotency,
		"order of checks": testOrderOfChecks, "invalid input": testInvalidInput,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			section(t, p)
		})
	}
}
