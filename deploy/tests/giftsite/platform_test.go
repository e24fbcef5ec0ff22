//go:build browser

package giftsite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// thanks is what players write.
const thanks = "Tack så mycket!"

// platform is the whole stack with its demo data and its own servers.
type platform struct {
	*harness.Platform

	// tokens are the tokens of the links that a test has created.
	tokens []string
}

// otherKey names a second key of the demo's tenant: what it changes is sent to the webhook of GIFTING_KEY, whose own changes
// are not.
const otherKey = "GIFTING_KEY_OTHER"

func startPlatform(t *testing.T) *platform {
	t.Helper()
	base, err := deps.FreeRow(t.Context(), local.PortSpan)
	require.NoError(t, err)
	p, cfg := &platform{}, local.Config{Dir: t.TempDir(), PortBase: base}
	t.Cleanup(func() {
		p.requireNoSecretsInLog(t, filepath.Join(cfg.Dir, "stack.log"))
		require.NoError(t, deps.RemoveData(cfg.Dir))
	})
	p.Platform = harness.StartWith(t, cfg)
	p.Env[otherKey] = p.DemoKey(t)
	return p
}

// requireNoSecretsInLog requires that no part of the platform has logged a token or an address.
func (p *platform) requireNoSecretsInLog(t *testing.T, path string) {
	t.Helper()
	log, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(log), `"msg":"request"`)
	for _, secret := range append(p.tokens, p.Env["GIFTING_KEY"], p.Env[otherKey], "Storgatan", "+46 70 123", "+46701234567", thanks) {
		require.NotContains(t, string(log), secret)
	}
}

type object = map[string]any

// link creates a link of the campaign.
func (p *platform) link(t *testing.T) object {
	t.Helper()
	batch := fmt.Sprintf(`{"campaignId": %q, "recipients": [{"label": "Astrid Lindqvist", "message": "Grattis!", "locale": "sv-SE"}]}`,
		p.Env["GIFTING_CAMPAIGN_ID"])
	made := p.Post(t, p.Env["GIFTING_KEY"], "/personal-links:create-batch", batch).OK(t)
	result := made["results"].([]any)[0].(object)
	require.Equal(t, "CREATED", result["outcome"], made)
	link := result["link"].(object)
	address := link["claimUrl"].(string)
	p.tokens = append(p.tokens, address[strings.LastIndexByte(address, '/')+1:])
	return link
}

func TestOnTheWholePlatform(t *testing.T) {
	p := startPlatform(t)
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			p.testCampaign(t, openBrowser(t, screen))
		})
	}
}

func (p *platform) testCampaign(t *testing.T, b *browser) {
	link := p.link(t)
	b.visit(t, link["claimUrl"].(string), 200)
	require.Contains(t, b.text(t, "h1"), "En gåva till Astrid Lindqvist")
	b.press(t, ".letter .button")
	b.press(t, `a.choose[href*="`+seed.GiftID("hooded-sweatshirt")+`"]`)
	b.do(t, chromedp.Click(chromedp.CSS(`input[name="v:Size"][value="M"]`)), chromedp.Click(chromedp.CSS(`#choice-1 input`)))
	b.press(t, ".send")
	b.fill(t, "abc")
	b.press(t, ".send")
	require.Contains(t, b.text(t, "#phone-error"), "landsnummer")
	b.fill(t, "+46 70 123 45 67")
	b.press(t, ".send")
	b.press(t, ".confirm .send")
	b.inspectSchemes(t, "20-campaign")
	claimed := p.Get(t, p.Env["GIFTING_KEY"], "/personal-links/"+link["id"].(string)).OK(t)
	order := p.Get(t, p.Env["GIFTING_KEY"], "/orders/"+claimed["orderId"].(string)).OK(t)
	require.Contains(t, b.text(t, ".reference"), order["reference"])
	require.Contains(t, order["items"].([]any)[0].(object)["productName"], "Hooded sweatshirt")
	b.do(t, chromedp.SetValue(chromedp.CSS("#word"), thanks))
	b.press(t, "form .quiet")
	require.Equal(t, thanks, b.text(t, "blockquote"))
	messages := p.Array(t, p.Env["GIFTING_KEY"], "/orders/"+order["id"].(string)+"/messages")
	require.Len(t, messages, 1)
	require.Equal(t, object{"kind": "SYSTEM", "name": "Recipient"}, messages[0]["author"])
	require.Equal(t, thanks, messages[0]["body"])
	b.requireNoLeak(t, strings.TrimSuffix(p.Env["GIFTING_URL"], "/api/public/v1"))
}
