package e2e_test

import "testing"

// testConformance has a test for every promise of conformance/promises.txt that nothing else keeps, by its section and
// under its words.
func (p *platform) testConformance(t *testing.T) {
	t.Run("general", p.promisesOfAll)
	t.Run("tenant", p.promisesOfTenants)
	t.Run("key", p.promisesOfKeys)
	t.Run("brand", p.promisesOfBrands)
	t.Run("product", p.promisesOfProducts)
	t.Run("products", p.promisesOfProductLists)
	t.Run("images", p.promisesOfImages)
	t.Run("campaign", p.promisesOfCampaigns)
	t.Run("campaign states", p.promisesOfCampaignStates)
	t.Run("order", p.promisesOfOrders)
	t.Run("order states", p.promisesOfOrderStates)
	t.Run("placing", p.promisesOfPlacing)
	t.Run("orders", p.promisesOfOrderLists)
	t.Run("correcting", p.promisesOfCorrecting)
	t.Run("cancelling", p.promisesOfCancelling)
	t.Run("messages", p.promisesOfMessages)
	t.Run("link", p.promisesOfLinks)
	t.Run("link states", p.promisesOfLinkStates)
	t.Run("batch", p.promisesOfBatches)
	t.Run("links", p.promisesOfLinkLists)
	t.Run("conventions", p.promisesOfConventions)
	t.Run("scopes", p.promisesOfScopes)
	t.Run("authentication", p.promisesOfAuthentication)
	t.Run("events", p.promisesOfEvents)
	t.Run("delivery", p.promisesOfDelivery)
	t.Run("feed", p.promisesOfTheFeed)
	t.Run("webhook test", p.promisesOfWebhookTests)
	t.Run("problems", p.promisesOfProblems)
	t.Run("codes", p.promisesOfCodes)
	t.Run("limits", p.promisesOfLimits)
	t.Run("versions", p.promisesOfVersions)
}
