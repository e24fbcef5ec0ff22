package e2e_test

import "testing"

// TestPlatform runs every case against one stack: the cases share its demo and disturb nobody else's.
func TestPlatform(t *testing.T) {
	p := openPlatform(t)
	t.Run("placing an order", p.testPlacing)
	t.Run("an order's event", p.testEvents)
	t.Run("who sees what", p.testVisibility)
	t.Run("refused orders", p.testRefusedOrders)
	t.Run("two faults at once", p.testOrderOfChecks)
	t.Run("bad input", p.testBadInput)
	t.Run("reading", p.testReading)
	t.Run("images", p.testImages)
	t.Run("campaigns", p.testCampaigns)
	t.Run("what the catalog refuses", p.testCatalogRefusals)
	t.Run("stock", p.testStock)
	t.Run("an order with everything", p.testWholeOrder)
	t.Run("orders in every status", p.testOrderStates)
	t.Run("correcting a delivery", p.testCorrectingDelivery)
	t.Run("cancelling", p.testCancelling)
	t.Run("messages", p.testMessages)
	t.Run("the people behind an order", p.testOrderOperations)
	t.Run("the guide for internal teams", p.testGuide)
	t.Run("webhooks:test", p.testWebhookTest)
	t.Run("idempotency keys", p.testIdempotencyKeys)
	t.Run("keys", p.testKeys)
	t.Run("personal links", p.testPersonalLinks)
	t.Run("the gift site", p.testGiftSite)
	t.Run("conformance", p.testConformance)
	t.Run("the feed read from its start", p.testFeedRebuildsOrders)
	t.Run("personal data", p.testPersonalData)
	t.Run("what is measured", p.testMeasured)
	t.Run("SQL of the runbooks", p.testRunbooks)
}
