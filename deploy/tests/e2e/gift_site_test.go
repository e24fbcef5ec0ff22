package e2e_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// claimOnSite goes through all pages of a link.
func (s stack) claimOnSite(t *testing.T, address string) string {
	t.Helper()
	return harness.NewPlayer(t, address).Claim(t, s.Env["GIFTING_PRODUCT_ID"])
}

// newGiftLink makes a link and returns it with its address.
func (s stack) newGiftLink(t *testing.T) (id, address string) {
	t.Helper()
	batch := s.Post(t, s.DemoKey(t), "/personal-links:create-batch", s.Batch(t, func(batch map[string]any) {
		batch["recipients"] = []any{map[string]any{
			"label": harness.MarkedName, "email": harness.MarkedEmail, "message": "Of " + harness.MarkedStreet,
			"externalRecipientId": "player-1",
		}}
	})).OK(t)
	link, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	id, _ = link["id"].(string)
	address, _ = link["claimUrl"].(string)
	return id, address
}

// testGiftSite goes through the pages of a link, with a wrong phone number once, to the order and a correction.
func (s stack) testGiftSite(t *testing.T) {
	link, address := s.newGiftLink(t)
	require.Contains(t, harness.Visit(t, address).Body, "A gift for "+harness.MarkedName)
	p := harness.NewPlayer(t, address)
	p.Send(t, url.Values{"step": {"gift"}, "gift": {s.Env["GIFTING_PRODUCT_ID"]}})
	require.Contains(t, p.Send(t, harness.AddressForm("0701")), `id="phone-error"`)
	review := p.Send(t, harness.AddressForm("0701 23 45 67"))
	require.Contains(t, review, harness.MarkedStreet)
	require.Contains(t, p.Send(t, harness.Confirmation(t, review)), "Thank you")
	page := harness.Visit(t, address)
	require.Contains(t, page.Body, "This gift has already been chosen")
	harness.RequireNoPersonalData(t, page.Body)
	order, _ := s.Get(t, s.DemoKey(t), "/personal-links/"+link).OK(t)["orderId"].(string)
	s.testClaimedPage(t, p, order)
}

// testClaimedPage: only the browser that has claimed the link sees its order, and may correct it.
func (s stack) testClaimedPage(t *testing.T, p *harness.Player, orderID string) {
	t.Helper()
	key := s.DemoKey(t)
	order := s.Get(t, key, "/orders/"+orderID).OK(t)
	reference, _ := order["reference"].(string)
	thanks := p.Get(t, "")
	require.Contains(t, thanks, reference)
	require.Contains(t, thanks, "Thank you")
	require.Contains(t, thanks, `<img class="picture" src="`, "the gift as the catalog shows it")
	other := harness.Visit(t, p.Address).Body
	harness.RequireNoPersonalData(t, other) // Only the browser that typed the address sees it.
	require.NotContains(t, other, reference)
	correct := p.Get(t, "?step=correct")
	harness.RequireNoPersonalData(t, harness.NewPlayer(t, p.Address).Get(t, "?step=correct"))
	form := harness.Confirmation(t, correct)
	form.Set("step", "correct")
	form.Set("street", harness.MarkedStreet+" B")
	require.Contains(t, harness.NewPlayer(t, p.Address).Send(t, form), "This gift has already been chosen", "of a stranger")
	require.Equal(t, order["version"], s.Get(t, key, "/orders/"+orderID).OK(t)["version"])
	corrected := p.Send(t, form)
	require.Contains(t, corrected, "Your delivery details have been corrected.")
	require.Contains(t, corrected, harness.MarkedStreet+" B", "in the browser that typed it")
	harness.RequireNoPersonalData(t, harness.Visit(t, p.Address).Body)
	require.Contains(t, p.Send(t, form), "Your delivery details have been corrected.", "the button was pressed twice")
	require.InDelta(t, order["version"].(float64)+1, s.Get(t, key, "/orders/"+orderID).OK(t)["version"], 0)
	form.Set("street", harness.MarkedStreet+" C")
	require.Contains(t, p.Send(t, form), "The delivery details have been changed meanwhile.", "of another tab")
}
