package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// batch is a body for the demo's gift, with a marked recipient after what change makes of it.
func (p *platform) batch(t *testing.T, change func(batch map[string]any)) string {
	t.Helper()
	body := map[string]any{
		"brandId": p.env["GIFTING_BRAND_ID"], "productIds": []any{p.env["GIFTING_PRODUCT_ID"]},
		"recipients": []any{map[string]any{
			"label": markedName, "email": markedEmail, "message": "Of " + markedStreet, "externalRecipientId": "player-1",
		}},
	}
	if change != nil {
		change(body)
	}
	text, err := json.Marshal(body)
	require.NoError(t, err)
	return string(text)
}

func toCampaign(p *platform) func(batch map[string]any) {
	return func(batch map[string]any) {
		delete(batch, "brandId")
		delete(batch, "productIds")
		batch["campaignId"] = p.env["GIFTING_CAMPAIGN_ID"]
	}
}

// result is an entry of a batch's answer.
type result struct {
	Outcome string         `json:"outcome"`
	Link    map[string]any `json:"link"`
	Errors  []struct{ Field, Code, Message string }
}

func results(t *testing.T, a answer) []result {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var body struct {
		Results []result `json:"results"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body))
	return body.Results
}

func (p *platform) newLink(t *testing.T, key string, change func(batch map[string]any)) map[string]any {
	t.Helper()
	made := results(t, p.post(t, key, "/personal-links:create-batch", p.batch(t, change)))
	require.Len(t, made, 1)
	require.Equal(t, "CREATED", made[0].Outcome)
	return made[0].Link
}

func (p *platform) giftSite(t *testing.T) linksv1.GiftSiteServiceClient {
	t.Helper()
	return linksv1.NewGiftSiteServiceClient(p.dial(t, "GIFTING_GRPC_LINKS"))
}

func tokenOf(link map[string]any) string { return path.Base(link["claimUrl"].(string)) }

// choice takes the first gift of the page in the first way it can be had.
func choice(t *testing.T, site linksv1.GiftSiteServiceClient, link map[string]any) *linksv1.ClaimLinkRequest {
	t.Helper()
	page, err := site.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(link)})
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, page.GetState())
	require.Equal(t, markedName, page.GetLabel())
	i := slices.IndexFunc(page.GetGifts(), func(g *linksv1.ClaimGift) bool {
		return !g.GetOutOfStock() && slices.Contains(g.GetCountries(), "SE")
	})
	require.GreaterOrEqual(t, i, 0, "no gift goes to Sweden")
	gift := page.GetGifts()[i]
	variations := map[string]string{}
	for _, v := range gift.GetVariations() {
		variations[v.GetDimension()] = v.GetValues()[0]
	}
	if len(gift.GetChoices()) > 0 {
		variations = gift.GetChoices()[0].GetVariations()
	}
	email, postalCode := markedEmail, "621 57"
	return &linksv1.ClaimLinkRequest{
		Token: tokenOf(link), ProductId: gift.GetProductId(), Variations: variations,
		Recipient: &linksv1.ClaimRecipient{
			Name: markedName, Phone: markedPhone, Email: &email, Street: markedStreet, City: "Visby", PostalCode: &postalCode, Country: "SE",
		},
	}
}

func (p *platform) testPersonalLinks(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	t.Run("a batch", func(t *testing.T) { p.testBatch(t, key) })
	t.Run("refused batches", func(t *testing.T) { p.testRefusedBatches(t, key) })
	t.Run("a claim of a catalog selection", func(t *testing.T) { p.testClaim(t, key, nil) })
	t.Run("a claim of a campaign", func(t *testing.T) { p.testClaim(t, key, toCampaign(p)) })
	t.Run("many claims at once", func(t *testing.T) { p.testClaimsAtOnce(t, key) })
	t.Run("a cancellation", func(t *testing.T) { p.testCancelledLink(t, key) })
	t.Run("an approval", p.testApprovedLinks)
	t.Run("who sees a link", func(t *testing.T) { p.testLinkVisibility(t, key) })
}

func (p *platform) testBatch(t *testing.T, key string) {
	body := p.batch(t, func(batch map[string]any) {
		recipients := make([]any, 1000)
		for i := range recipients {
			recipients[i] = map[string]any{"label": fmt.Sprintf("Player %d", i), "email": fmt.Sprintf("player-%d@example.org", i)}
		}
		recipients[1].(map[string]any)["email"] = "PLAYER-0@example.org"
		recipients[2].(map[string]any)["locale"] = "fr-FR"
		batch["recipients"] = recipients
	})
	c := call{method: http.MethodPost, path: "/personal-links:create-batch", key: key, idempotencyKey: "batch-of-1000", body: body}
	first := p.do(t, c)
	made := results(t, first)
	require.Len(t, made, 1000)
	for i, want := range map[int][2]string{1: {"email", "duplicate"}, 2: {"locale", "not_enabled"}} {
		require.Equal(t, "REJECTED", made[i].Outcome)
		require.Nil(t, made[i].Link)
		require.Equal(t, want, [2]string{made[i].Errors[0].Field, made[i].Errors[0].Code})
	}
	require.Equal(t, "CREATED", made[999].Outcome)
	require.Nil(t, made[999].Errors)
	require.NotContains(t, first.body, `"link":null`)
	require.NotContains(t, first.body, `"errors":null`)

	again := p.do(t, c)
	require.Equal(t, first.body, again.body, "byte for byte")
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	p.eventually(t, key, made[999].Link["id"].(string), slow)
	created := 0
	for _, e := range p.feed(t, key) {
		if e.Type == "personal_link.created" && strings.Contains(first.body, string(e.Data)) {
			created++
		}
	}
	require.Equal(t, 998, created, "an event for each link, as it was answered")
}

// testClaim follows a link from the batch to its order.
func (p *platform) testClaim(t *testing.T, key string, change func(batch map[string]any)) {
	link := p.newLink(t, key, change)
	site := p.giftSite(t)
	claimed, err := site.ClaimLink(t.Context(), choice(t, site, link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, claimed.GetState())

	after := p.get(t, key, "/personal-links/"+link["id"].(string)).object(t)
	require.Equal(t, "CLAIMED", after["status"])
	order := p.get(t, key, "/orders/"+after["orderId"].(string)).object(t)
	require.Equal(t, claimed.GetOrderReference(), order["reference"])
	require.Equal(t, "PERSONAL_LINK", order["source"])
	require.Equal(t, "PROCESSING", order["status"])
	require.Equal(t, link["id"], order["personalLinkId"])
	require.Equal(t, "player-1", order["externalRecipientId"])
	require.Equal(t, link["campaignId"], order["campaignId"])
	require.Equal(t, link["selection"], order["selection"])
	require.Nil(t, order["externalOrderId"])
	require.Equal(t, "SE", order["deliveryCountry"])

	p.eventually(t, key, `"orderId":"`+after["orderId"].(string), slow)
	var kinds []string
	for _, e := range p.feed(t, key) {
		if strings.Contains(e.raw, link["id"].(string)) {
			kinds = append(kinds, e.Type)
			requireNoPersonalData(t, e.raw)
		}
	}
	require.Equal(t, []string{"personal_link.created", "order.created", "personal_link.claimed"}, kinds)
	problem := requireProblem(t, p.post(t, key, "/personal-links/"+link["id"].(string)+":cancel", `{"reason": "Late"}`),
		http.StatusConflict, "not_cancellable")
	require.Equal(t, "CLAIMED", problem["currentStatus"])
}

func (p *platform) testClaimsAtOnce(t *testing.T, key string) {
	link := p.newLink(t, key, nil)
	site := p.giftSite(t)
	req := choice(t, site, link)
	var group errgroup.Group
	for range 50 {
		group.Go(func() error {
			resp, err := site.ClaimLink(t.Context(), req)
			if err == nil && resp.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
				err = fmt.Errorf("answered %s", resp.GetState())
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	list := p.get(t, key, "/orders?limit=100")
	require.Equal(t, 1, strings.Count(list.body, `"personalLinkId":"`+link["id"].(string)+`"`))
}

func (p *platform) testCancelledLink(t *testing.T, key string) {
	link := p.newLink(t, key, toCampaign(p))
	cancel := "/personal-links/" + link["id"].(string) + ":cancel"
	first := p.post(t, key, cancel, `{"reason": "`+markedName+`"}`)
	require.Equal(t, http.StatusOK, first.status, first.body)
	require.Equal(t, "CANCELLED", first.object(t)["status"])
	requireNoPersonalData(t, first.body)
	second := p.post(t, key, cancel, `{"reason": "Another"}`)
	require.Equal(t, first.body, second.body, "unchanged")
	requireProblem(t, p.post(t, key, cancel, `{"reason": " "}`), http.StatusBadRequest, "invalid_request")
	page, err := p.giftSite(t).GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(link)})
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, page.GetState())
	list := p.get(t, key, "/personal-links?status=CANCELLED&campaignId="+p.env["GIFTING_CAMPAIGN_ID"])
	require.Contains(t, list.body, link["id"])
}

// testApprovedLinks lets a coordinator approve what waits, in the tenant that demands it.
func (p *platform) testApprovedLinks(t *testing.T) {
	key := p.env["GIFTING_KEY_APPROVAL"]
	body := p.batch(t, func(batch map[string]any) { batch["brandId"] = p.brandOf(t, key) })
	link := results(t, p.post(t, key, "/personal-links:create-batch", body))[0].Link
	require.Equal(t, "REQUESTED", link["status"])
	settings, err := tenantsv1.NewDirectoryServiceClient(p.dial(t, "GIFTING_GRPC_TENANTS")).
		GetTenantSettings(t.Context(), &tenantsv1.GetTenantSettingsRequest{TenantId: seed.Approving})
	require.NoError(t, err)
	i := slices.IndexFunc(settings.GetTeam(), func(m *tenantsv1.TeamMember) bool {
		return m.GetRole() == tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR
	})
	operations := linksv1.NewPersonalLinkOperationsServiceClient(p.dial(t, "GIFTING_GRPC_LINKS"))
	approved, err := operations.ApprovePersonalLink(t.Context(), &linksv1.ApprovePersonalLinkRequest{
		Actor:    &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: settings.GetTeam()[i].GetId()},
		TenantId: seed.Approving, LinkId: link["id"].(string),
	})
	require.NoError(t, err)
	require.NotNil(t, approved.GetLink().GetApprovedAt())
	after := p.get(t, key, "/personal-links/"+link["id"].(string)).object(t)
	require.Equal(t, "ACTIVE", after["status"])
	require.NotNil(t, after["approvedAt"])
	p.eventually(t, key, `"type":"personal_link.approved"`, slow)
}

func (p *platform) testLinkVisibility(t *testing.T, key string) {
	link := p.newLink(t, key, nil)
	one := "/personal-links/" + link["id"].(string)
	otherBrand := p.newKey(t, "", p.brandOf(t, key)).GetApiKey()
	for _, other := range []string{p.env["GIFTING_KEY_APPROVAL"], otherBrand} {
		requireProblem(t, p.get(t, other, one), http.StatusNotFound, "not_found")
		requireProblem(t, p.post(t, other, one+":cancel", `{"reason": "x"}`), http.StatusNotFound, "not_found")
		require.NotContains(t, p.get(t, other, "/personal-links?limit=100").body, link["id"])
		requireProblem(t, p.post(t, other, "/personal-links:create-batch", p.batch(t, nil)), http.StatusUnprocessableEntity, "brand_not_found")
		requireProblem(t, p.post(t, other, "/personal-links:create-batch", p.batch(t, toCampaign(p))),
			http.StatusUnprocessableEntity, "campaign_not_found")
	}
	requireProblem(t, p.post(t, p.env["GIFTING_KEY_CATALOG"], "/personal-links:create-batch", p.batch(t, nil)),
		http.StatusForbidden, "insufficient_scope")
	requireProblem(t, p.get(t, key, "/personal-links/42"), http.StatusNotFound, "not_found")
}
