package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func token(l *linksv1.PersonalLink) string {
	return l.GetClaimUrl()[strings.LastIndexByte(l.GetClaimUrl(), '/')+1:]
}

func (b *bench) page(t *testing.T, l *linksv1.PersonalLink) *linksv1.GetClaimPageResponse {
	t.Helper()
	page, err := b.site.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: token(l)})
	require.NoError(t, err)
	return page
}

// claimOf is a player's choice of the jersey.
func claimOf(l *linksv1.PersonalLink) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token: token(l), ProductId: jerseyID, Variations: map[string]string{"Size": "M"},
		Recipient: &linksv1.ClaimRecipient{
			Name: "Marked Player", Phone: "+46 70 123 45 67", Email: pointer("marked@example.com"),
			Street: "Marked Street 1", City: "Visby", PostalCode: pointer("621 57"), Country: "SE",
		},
	}
}

func (b *bench) read(t *testing.T, l *linksv1.PersonalLink) *linksv1.PersonalLink {
	t.Helper()
	got, err := b.client.GetPersonalLink(b.as(b.everyBrand()), &linksv1.GetPersonalLinkRequest{LinkId: l.GetId()})
	require.NoError(t, err)
	return got.GetLink()
}

func TestThePageOfAnOpenLink(t *testing.T) {
	b := setup(t)
	bob := &linksv1.PersonalLinkRecipient{Label: "Bob", Message: pointer("Well played"), Locale: pointer("sv-SE")}
	page := b.page(t, b.create(t, b.toCampaign(bob))[0].GetLink())
	require.True(t, proto.Equal(&linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: "sv-SE", Label: "Bob", Message: pointer("Well played"),
		Brand: &linksv1.ClaimBrand{Name: "North Club", PrimaryColour: pointer("#102030")},
		Gifts: []*linksv1.ClaimGift{
			{ProductId: mugID, Name: "Mug", Description: "A mug", Countries: []string{"SE", "IE"}},
			{
				ProductId: jerseyID, Name: "Jersey", Countries: []string{"SE"},
				Images:     []*linksv1.ClaimImage{{Url: "https://img.example.com/1", Width: pointer[int32](640)}},
				Variations: []*linksv1.ClaimVariation{{Dimension: "Size", Values: []string{"S", "M", "L"}}},
				Choices:    []*linksv1.ClaimChoice{{Variations: map[string]string{"Size": "M"}}},
			},
		},
	}, page), "%v", page)

	t.Run("shows a gift of which nothing is left as out of stock", func(t *testing.T) {
		b.catalog.gifts[1].Skus[1].StockRemaining = pointer[int32](0)
		gift := b.page(t, b.newLink(t)).GetGifts()[1]
		require.True(t, gift.GetOutOfStock())
		require.Empty(t, gift.GetChoices())
	})
	t.Run("of a selection of the catalog shows its gifts only", func(t *testing.T) {
		link := b.create(t, b.toGifts(ann()))[0].GetLink()
		require.Len(t, b.page(t, link).GetGifts(), 1)
	})
}

func TestThePageInEveryOtherState(t *testing.T) {
	b := setup(t)
	for name, c := range map[string]struct {
		set   string
		want  linksv1.ClaimState
		label string
	}{
		"a link that waits":     {"status = 'REQUESTED'", linksv1.ClaimState_CLAIM_STATE_WAITING, "Marked Ann"},
		"a claimed link":        {"status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now()", linksv1.ClaimState_CLAIM_STATE_CLAIMED, "Marked Ann"},
		"a cancelled link":      {"status = 'CANCELLED', cancelled_at = now()", linksv1.ClaimState_CLAIM_STATE_EXPIRED, ""},
		"an expired link":       {"status = 'EXPIRED'", linksv1.ClaimState_CLAIM_STATE_EXPIRED, ""},
		"a link with no detail": {"status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now(), details_sealed = NULL", linksv1.ClaimState_CLAIM_STATE_CLAIMED, ""},
	} {
		t.Run(name, func(t *testing.T) {
			link := b.newLink(t)
			_, err := b.pool.Exec(t.Context(), "UPDATE links SET "+c.set+" WHERE id = $1", link.GetId())
			require.NoError(t, err)
			page := b.page(t, link)
			require.Equal(t, c.want, page.GetState())
			require.Equal(t, c.label, page.GetLabel())
			require.Equal(t, "North Club", page.GetBrand().GetName())
			require.Empty(t, page.GetGifts())

			resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
			require.NoError(t, err)
			require.Equal(t, c.want, resp.GetState(), "a claim does nothing")
			require.Nil(t, resp.OrderReference)
		})
	}
	require.Empty(t, b.orders.placed)
	t.Run("a link of a campaign that is over", func(t *testing.T) {
		link := b.newLink(t)
		b.catalog.closed = true
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, b.page(t, link).GetState())
		resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
		require.NoError(t, err)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, resp.GetState())
		require.Empty(t, b.orders.placed)
	})
}

func TestATokenOfNoLinkIsNotFound(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	for _, tok := range []string{"", "x", strings.Repeat("a", 24), strings.Repeat("ä", 12), token(link)[:23], token(link) + "a", token(link)[:23] + "!"} {
		_, err := b.site.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tok})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		req := claimOf(link)
		req.Token = tok
		_, err = b.site.ClaimLink(t.Context(), req)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		if tok != "" && tok != "x" {
			require.NotContains(t, err.Error(), tok)
		}
	}
}

func TestAClaimPlacesTheOrderAndEndsTheLink(t *testing.T) {
	b := setup(t)
	field := newID()
	b.directory.settings.Tenant.CustomFields = []*tenantsv1.CustomField{{Id: field, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}}
	link := b.create(t, b.toCampaign(&linksv1.PersonalLinkRecipient{
		Label: "Bob", ExternalRecipientId: pointer("player-2"), Email: pointer("bob@example.com"), ManagerEmail: pointer("mia@example.com"),
		CustomFields: []*linksv1.PersonalLinkAnswer{{FieldId: field, TextValue: pointer("VIP")}},
	}))[0].GetLink()
	resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())

	claimed := b.read(t, link)
	require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_CLAIMED, claimed.GetStatus())
	require.Equal(t, claimed.GetUpdatedAt().AsTime(), claimed.GetClaimedAt().AsTime())
	require.True(t, claimed.GetUpdatedAt().AsTime().After(link.GetUpdatedAt().AsTime()))
	require.Equal(t, order(claimed.GetOrderId()).GetReference(), resp.GetOrderReference())

	require.Len(t, b.orders.placed, 1)
	placed := b.orders.placed[claimed.GetOrderId()]
	require.Equal(t, b.tenant, placed.GetTenantId())
	require.Equal(t, link.GetId(), placed.GetPersonalLinkId())
	require.Equal(t, b.brand, placed.GetBrandId())
	require.Equal(t, b.campaign, placed.GetCampaignId())
	require.Equal(t, "player-2", placed.GetExternalRecipientId())
	require.Equal(t, "Bob", placed.GetClient().GetName())
	require.Equal(t, "bob@example.com", placed.GetClient().GetEmail())
	require.Equal(t, "Marked Street 1", placed.GetRecipient().GetAddress().GetStreet())
	require.Equal(t, "VIP", placed.GetCustomFields()[0].GetTextValue())
	require.Equal(t, aMember, placed.GetManagerId())

	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, b.kinds(t, link.GetId()))
	last := b.events(t)[1]
	require.Contains(t, last.data, claimed.GetOrderId())
	require.Zero(t, last.origin, "no key made the claim")

	t.Run("a second claim learns that the link is claimed", func(t *testing.T) {
		again, err := b.site.ClaimLink(t.Context(), claimOf(link))
		require.NoError(t, err)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, again.GetState())
		require.Nil(t, again.OrderReference)
		require.Len(t, b.orders.placed, 1)
	})
}

func TestFaultsOfAClaimLeaveTheLinkOpen(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	type req = *linksv1.ClaimLinkRequest
	for name, c := range map[string]struct {
		change func(r req)
		want   []string
	}{
		"no gift":             {func(r req) { r.ProductId = "" }, []string{"productId required"}},
		"a gift that is none": {func(r req) { r.ProductId = "1" }, []string{"productId invalid"}},
		"no recipient": {func(r req) { r.Recipient = nil }, []string{
			"recipient.name required", "recipient.phone required", "recipient.street required", "recipient.city required", "recipient.country required",
		}},
		"too long": {func(r req) {
			a, to := strings.Repeat("å", 300), r.GetRecipient()
			to.Name, to.Phone, to.Street, to.City, to.PostalCode = a, "+"+strings.Repeat("1", 60), a, a, &a
		}, []string{"recipient.name too_long", "recipient.phone too_long", "recipient.street too_long", "recipient.city too_long", "recipient.postalCode too_long"}},
		"a phone number without country": {func(r req) { r.Recipient.Phone = "070 123 45 67" }, []string{"recipient.phone invalid"}},
		"no e-mail address":              {func(r req) { r.Recipient.Email = pointer("x") }, []string{"recipient.email invalid"}},
		"no country":                     {func(r req) { r.Recipient.Country = "XX" }, []string{"recipient.country invalid"}},
		"no postal code":                 {func(r req) { r.Recipient.PostalCode = nil }, []string{"recipient.postalCode required"}},
		"all at once":                    {func(r req) { r.ProductId, r.Recipient.City = "", "" }, []string{"productId required", "recipient.city required"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := claimOf(link)
			c.change(r)
			_, err := b.site.ClaimLink(t.Context(), r)
			requireFaults(t, err, c.want...)
		})
	}
	for name, c := range map[string]struct {
		change func(r req)
		want   problem.Code
	}{
		"a gift of another selection":     {func(r req) { r.ProductId = newID() }, problem.ProductNotAvailable},
		"a country it does not go to":     {func(r req) { r.Recipient.Country = "IE" }, problem.NotDeliverableToCountry},
		"no size":                         {func(r req) { r.Variations = nil }, problem.InvalidVariations},
		"a size that is none":             {func(r req) { r.Variations["Size"] = "XXL" }, problem.InvalidVariations},
		"a dimension too many":            {func(r req) { r.Variations["Colour"] = "Red" }, problem.InvalidVariations},
		"a size that is not offered":      {func(r req) { r.Variations["Size"] = "L" }, problem.InvalidVariations},
		"a size of which there is none":   {func(r req) { r.Variations["Size"] = "S" }, problem.OutOfStock},
		"a variation of a gift with none": {func(r req) { r.ProductId = mugID }, problem.InvalidVariations},
	} {
		t.Run(name, func(t *testing.T) {
			r := claimOf(link)
			c.change(r)
			_, err := b.site.ClaimLink(t.Context(), r)
			require.True(t, problem.Is(err, c.want), "%v", err)
		})
	}
	require.Empty(t, b.orders.placed)
	require.True(t, proto.Equal(link, b.read(t, link)), "nothing has changed")
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, b.page(t, link).GetState())
}

func TestARefusalOfOrdersLeavesTheLinkOpenForAnotherChoice(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	for _, code := range []problem.Code{
		problem.OutOfStock, problem.InvalidVariations, problem.NotDeliverableToCountry, problem.ProductNotAvailable, problem.ProductNotInCampaign,
	} {
		b.orders.fault = problem.New(code, "no")
		_, err := b.site.ClaimLink(t.Context(), claimOf(link))
		require.True(t, problem.Is(err, code), "%v", err)
	}
	b.orders.fault = problem.Invalid(
		problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid, Message: "no"},
		problem.Violation{Field: "recipient.address.postalCode", Code: problem.FieldRequired, Message: "no"})
	_, err := b.site.ClaimLink(t.Context(), claimOf(link))
	requireFaults(t, err, "recipient.phone invalid", "recipient.postalCode required")
	b.orders.fault = problem.New(problem.CampaignNotActive, "over")
	resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, resp.GetState())
	b.orders.fault = problem.Unavailable()
	_, err = b.site.ClaimLink(t.Context(), claimOf(link))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)

	require.True(t, proto.Equal(link, b.read(t, link)), "nothing has changed")
	require.Equal(t, []string{"personal_link.created"}, b.kinds(t, link.GetId()))
	b.orders.fault = nil
	resp, err = b.site.ClaimLink(t.Context(), claimOf(link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())
}

func TestFiftyClaimsOfOneLinkAtOncePlaceOneOrder(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	references := make([]*string, 50)
	var group errgroup.Group
	for i := range references {
		group.Go(func() error {
			resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
			if err == nil && resp.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
				err = problem.New(problem.InternalError, "%s", resp.GetState())
			}
			references[i] = resp.OrderReference
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Len(t, b.orders.placed, 1)
	won := 0
	for _, r := range references {
		if r != nil {
			won++
		}
	}
	require.Equal(t, 1, won)
	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, b.kinds(t, link.GetId()))
	claimed := b.read(t, link)
	require.Contains(t, b.orders.placed, claimed.GetOrderId())
}

func TestALinkBeingClaimedIsStillShownOpen(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	_, err := b.store.Mark(t.Context(), b.tenant, link.GetId(), newID(), time.Hour)
	require.NoError(t, err)
	require.True(t, proto.Equal(link, b.read(t, link)), "outside nothing has changed")
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, b.page(t, link).GetState())
}

func TestAChoiceThatCannotBeHadIsRefusedWhateverAnotherClaimDoes(t *testing.T) {
	b := setup(t)
	for name, c := range map[string]struct {
		change func(r *linksv1.ClaimLinkRequest)
		want   problem.Code
	}{
		"a gift the link does not offer":  {func(*linksv1.ClaimLinkRequest) {}, problem.ProductNotAvailable},
		"a variation of a gift with none": {func(r *linksv1.ClaimLinkRequest) { r.ProductId = mugID }, problem.InvalidVariations},
	} {
		t.Run(name, func(t *testing.T) {
			link := b.create(t, b.toGifts(ann()))[0].GetLink()
			req := claimOf(link)
			c.change(req)
			_, err := b.store.Mark(t.Context(), b.tenant, link.GetId(), newID(), -time.Second)
			require.NoError(t, err)
			_, err = b.site.ClaimLink(t.Context(), req)
			require.True(t, problem.Is(err, c.want), "%v", err)
			require.Empty(t, b.orders.placed, "the other claim came to nothing")
		})
	}
	t.Run("unless the other one won", func(t *testing.T) {
		link := b.create(t, b.toGifts(ann()))[0].GetLink()
		orderID := newID()
		_, err := b.store.Mark(t.Context(), b.tenant, link.GetId(), orderID, -time.Second)
		require.NoError(t, err)
		b.orders.placed[orderID] = nil
		resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
		require.NoError(t, err)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())
		require.Len(t, b.orders.placed, 1)
	})
}
