package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
)

func token(l *linksv1.PersonalLink) string {
	return l.GetClaimUrl()[strings.LastIndexByte(l.GetClaimUrl(), '/')+1:]
}

func (f *fixture) page(t *testing.T, l *linksv1.PersonalLink) *linksv1.GetClaimPageResponse {
	t.Helper()
	page, err := f.site.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: token(l)})
	require.NoError(t, err)
	return page
}

// claimOf is a player's choice of the jersey.
func claimOf(l *linksv1.PersonalLink) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token: token(l), ProductId: jerseyID, Variations: map[string]string{"Size": "M"},
		Recipient: &linksv1.ClaimRecipient{
			Name: "Marked Player", Phone: "+46 70 123 45 67", Email: new("marked@example.com"),
			Street: "Marked Street 1", City: "Visby", PostalCode: new("621 57"), Country: "SE",
		},
	}
}

func (f *fixture) claim(t *testing.T, req *linksv1.ClaimLinkRequest) *linksv1.ClaimLinkResponse {
	t.Helper()
	resp, err := f.site.ClaimLink(t.Context(), req)
	require.NoError(t, err)
	return resp
}

func (f *fixture) read(t *testing.T, l *linksv1.PersonalLink) *linksv1.PersonalLink {
	t.Helper()
	got, err := f.client.GetPersonalLink(f.keyContext(f.everyBrand()), &linksv1.GetPersonalLinkRequest{LinkId: l.GetId()})
	require.NoError(t, err)
	return got.GetLink()
}

func TestThePageOfAnOpenLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	bob := &linksv1.PersonalLinkRecipient{Label: "Bob", Message: new("Well played"), Locale: new("sv-SE")}
	page := f.page(t, f.create(t, f.toCampaign(bob))[0].GetLink())
	require.True(t, proto.Equal(&linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: "sv-SE", Label: "Bob", Message: new("Well played"),
		Brand: &linksv1.ClaimBrand{Name: "North Club", PrimaryColour: new("#102030")},
		Gifts: []*linksv1.ClaimGift{
			{ProductId: mugID, Name: "Mug", Description: "A mug", Countries: []string{"SE", "IE"}},
			{
				ProductId: jerseyID, Name: "Jersey", Countries: []string{"SE"},
				Images: []*linksv1.ClaimImage{{Url: "https://img.example.com/1", Width: new(int32(640))}},
				Variations: []*linksv1.ClaimVariation{{
					Dimension: "Size", Values: []string{"S", "M", "L"}, Name: "Size", ValueNames: []string{"S", "M", "L"},
				}},
				Choices: []*linksv1.ClaimChoice{{Variations: map[string]string{"Size": "M"}}},
			},
		},
	}, page), "%v", page)

	t.Run("shows a gift without stock as out of stock", func(t *testing.T) {
		f.catalog.gifts[1].Skus[1].StockRemaining = new(int32(0))
		gift := f.page(t, f.newLink(t)).GetGifts()[1]
		require.True(t, gift.GetOutOfStock())
		require.Empty(t, gift.GetChoices())
	})
	t.Run("of a selection of the catalog shows only its gifts", func(t *testing.T) {
		link := f.create(t, f.toGifts(ann()))[0].GetLink()
		require.Len(t, f.page(t, link).GetGifts(), 1)
	})
}

func TestThePageShowsWhatTheBrandAndTheCampaignSay(t *testing.T) {
	t.Parallel()
	f := setup(t)
	site := &tenantsv1.GiftSite{
		PrivacyUrl: new("https://north.example/privacy"),
		Theme:      &tenantsv1.Theme{HeroImageId: new("0123456789abcdef0123456789abcdef"), Typeface: tenantsv1.Typeface_TYPEFACE_SERIF},
	}
	f.setSite(site)
	f.catalog.gifts[1].VariationTranslations = []*catalogv1.VariationTranslation{
		{Dimension: "Size", Name: "Storlek", Values: map[string]string{"M": "Mellan"}},
	}
	link := f.newLink(t)
	page := f.page(t, link)
	require.True(t, proto.Equal(site, page.GetBrand().GetSite()))
	require.Equal(t, "Welcome,\nall", page.GetGreeting())
	require.Len(t, page.GetBrand().GetHero(), 1)
	require.Equal(t, "Home", page.GetCategories()[0].GetName())
	shown := page.GetGifts()[1].GetVariations()[0]
	require.Equal(t, "Storlek", shown.GetName())
	require.Equal(t, []string{"S", "M", "L"}, shown.GetValues(), "what is posted stays as in the catalog")
	require.Equal(t, []string{"S", "Mellan", "L"}, shown.GetValueNames())

	f.claim(t, claimOf(link))
	claimed := f.page(t, link)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, claimed.GetState())
	require.True(t, proto.Equal(site, claimed.GetBrand().GetSite()), "the links are on every page")
	require.Nil(t, claimed.Greeting)
}

func TestThePageLeavesOutPicturesThatTheBrandDoesNotHave(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	unknown := strings.Repeat("0b", 16)
	site := &tenantsv1.GiftSite{
		Theme:  &tenantsv1.Theme{DarkLogoImageId: &unknown},
		Sender: &tenantsv1.Sender{Name: new("Ann Berg"), PortraitImageId: new(knownPicture), SignatureImageId: &unknown},
	}
	f.setSite(site)
	link := f.newLink(t)
	shown := &tenantsv1.GiftSite{
		Theme:  &tenantsv1.Theme{},
		Sender: &tenantsv1.Sender{Name: new("Ann Berg"), PortraitImageId: new(knownPicture)},
	}
	for range 2 { // The settings stay as they are.
		require.True(t, proto.Equal(shown, f.page(t, link).GetBrand().GetSite()))
	}
	require.Equal(t, unknown, site.GetSender().GetSignatureImageId())

	t.Run("also without gifts", func(t *testing.T) {
		f.catalog.closed = true
		require.True(t, proto.Equal(shown, f.page(t, link).GetBrand().GetSite()), "its campaign is over")
		for _, state := range []string{"status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now()", "status = 'EXPIRED'"} {
			gone := f.newLink(t)
			f.set(t, gone, state)
			require.True(t, proto.Equal(shown, f.page(t, gone).GetBrand().GetSite()), state)
			f.catalog.failure = problem.Unavailable()
			require.Nil(t, f.page(t, gone).GetBrand().GetSite().GetSender().PortraitImageId, "not known without the catalog")
			f.catalog.failure = nil
		}
	})
}

func TestAnOlderCatalogHidesOnlyPictures(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	site := &tenantsv1.GiftSite{Sender: &tenantsv1.Sender{Name: new("Ann Berg"), PortraitImageId: new(knownPicture)}}
	f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) {
		s.GiftSites = []*tenantsv1.BrandGiftSite{{BrandId: f.brand, Site: site}}
	})
	f.catalog.older = true
	link := f.newLink(t)
	page := f.page(t, link)
	require.Len(t, page.GetGifts(), 2)
	require.True(t, proto.Equal(&tenantsv1.Sender{Name: new("Ann Berg")}, page.GetBrand().GetSite().GetSender()))
	claimed, err := f.site.ClaimLink(t.Context(), claimOf(link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, claimed.GetState())
}

func TestThePageInEveryOtherState(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	for name, c := range map[string]struct {
		set   string
		want  linksv1.ClaimState
		label string
	}{
		"a link that waits": {"status = 'REQUESTED'", linksv1.ClaimState_CLAIM_STATE_WAITING, "Marked Ann"},
		"a claimed link": {
			"status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now()", linksv1.ClaimState_CLAIM_STATE_CLAIMED, "Marked Ann",
		},
		"a cancelled link": {"status = 'CANCELLED', cancelled_at = now()", linksv1.ClaimState_CLAIM_STATE_EXPIRED, ""},
		"an expired link":  {"status = 'EXPIRED'", linksv1.ClaimState_CLAIM_STATE_EXPIRED, ""},
		"a link with no detail": {
			"status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now(), details_sealed = NULL",
			linksv1.ClaimState_CLAIM_STATE_CLAIMED, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			link := f.newLink(t)
			f.set(t, link, c.set)
			page := f.page(t, link)
			require.Equal(t, c.want, page.GetState())
			require.Equal(t, c.label, page.GetLabel())
			require.Equal(t, "North Club", page.GetBrand().GetName())
			require.Empty(t, page.GetGifts())

			resp := f.claim(t, claimOf(link))
			require.Equal(t, c.want, resp.GetState(), "a claim does nothing")
			require.Nil(t, resp.OrderReference)
		})
	}
	require.Empty(t, f.orders.Placed())
	t.Run("a link of a campaign that is over", func(t *testing.T) {
		link := f.newLink(t)
		f.catalog.closed = true
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, f.page(t, link).GetState())
		resp := f.claim(t, claimOf(link))
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, resp.GetState())
		require.Empty(t, f.orders.Placed())
	})
}

func TestAnUnknownTokenIsNotFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	known := token(link)
	for _, tok := range []string{
		"", "x", strings.Repeat("a", 24), strings.Repeat("ä", 12), known[:23], known + "a", known[:23] + "!",
	} {
		_, err := f.site.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tok})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		req := claimOf(link)
		req.Token = tok
		_, err = f.site.ClaimLink(t.Context(), req)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		if tok != "" && tok != "x" {
			require.NotContains(t, err.Error(), tok)
		}
	}
}

func TestAClaimPlacesTheOrderAndEndsTheLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	field := newID()
	f.changeTenant(func(s *tenantsv1.Tenant) {
		s.CustomFields = []*tenantsv1.CustomField{{Id: field, Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT}}
	})
	link := f.create(t, f.toCampaign(&linksv1.PersonalLinkRecipient{
		Label: "Bob", ExternalRecipientId: new("player-2"), Email: new("bob@example.com"), ManagerEmail: new("mia@example.com"),
		CustomFields: []*linksv1.PersonalLinkAnswer{{FieldId: field, TextValue: new("VIP")}},
	}))[0].GetLink()
	resp := f.claim(t, claimOf(link))
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())

	claimed := f.read(t, link)
	require.Equal(t, claimed.GetUpdatedAt().AsTime(), claimed.GetClaimedAt().AsTime())
	require.Equal(t, claimstest.Order(claimed.GetOrderId()).GetReference(), resp.GetOrderReference())

	require.Len(t, f.orders.Placed(), 1)
	placed := f.orders.Placed()[claimed.GetOrderId()]
	require.Equal(t, f.tenant, placed.GetTenantId())
	require.Equal(t, link.GetId(), placed.GetPersonalLinkId())
	require.Equal(t, f.brand, placed.GetBrandId())
	require.Equal(t, f.campaign, placed.GetCampaignId())
	require.Equal(t, "player-2", placed.GetExternalRecipientId())
	require.Equal(t, "Bob", placed.GetClient().GetName())
	require.Equal(t, "bob@example.com", placed.GetClient().GetEmail())
	require.Equal(t, "Marked Street 1", placed.GetRecipient().GetAddress().GetStreet())
	require.Equal(t, "VIP", placed.GetCustomFields()[0].GetTextValue())
	require.Equal(t, aMember, placed.GetManagerId())
	require.Zero(t, f.events(t)[1].origin, "no key made the claim")
}

func TestErrorsOfAClaimLeaveTheLinkOpen(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	type req = *linksv1.ClaimLinkRequest
	for name, c := range map[string]struct {
		change func(r req)
		want   []string
	}{
		"an invalid gift id": {func(r req) { r.ProductId = "1" }, []string{"productId invalid"}},
		"no recipient": {func(r req) { r.Recipient = nil }, []string{
			"recipient.name required", "recipient.phone required", "recipient.street required", "recipient.city required",
			"recipient.country required",
		}},
		"too long": {func(r req) {
			a, to := strings.Repeat("å", 300), r.GetRecipient()
			to.Name, to.Phone, to.Street, to.City, to.PostalCode = a, "+"+strings.Repeat("1", 60), a, a, &a
		}, []string{
			"recipient.name too_long", "recipient.phone too_long", "recipient.street too_long", "recipient.city too_long",
			"recipient.postalCode too_long",
		}},
		"invalid": {func(r req) {
			r.Recipient.Phone, r.Recipient.Email, r.Recipient.Country = "070 123 45 67", new("x"), "XX"
		}, []string{"recipient.phone invalid", "recipient.email invalid", "recipient.country invalid"}},
		"of gift and recipient": {
			func(r req) { r.ProductId, r.Recipient.PostalCode = "", nil }, []string{"productId required", "recipient.postalCode required"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := claimOf(link)
			c.change(r)
			_, err := f.site.ClaimLink(t.Context(), r)
			requireViolations(t, err, c.want...)
		})
	}
	for name, c := range map[string]struct {
		change func(r req)
		want   problem.Code
	}{
		"a gift of another selection":         {func(r req) { r.ProductId = newID() }, problem.ProductNotAvailable},
		"a country the gift does not ship to": {func(r req) { r.Recipient.Country = "IE" }, problem.NotDeliverableToCountry},
		"a combination that is not offered":   {func(r req) { r.Variations["Size"] = "L" }, problem.InvalidVariations},
		"a size that is out of stock":         {func(r req) { r.Variations["Size"] = "S" }, problem.OutOfStock},
	} {
		t.Run(name, func(t *testing.T) {
			r := claimOf(link)
			c.change(r)
			_, err := f.site.ClaimLink(t.Context(), r)
			require.True(t, problem.Is(err, c.want), "%v", err)
		})
	}
	require.Empty(t, f.orders.Placed())
	require.True(t, proto.Equal(link, f.read(t, link)), "nothing has changed")
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, f.page(t, link).GetState())
}

func TestInitialsArePutOnAGiftThatTakesThem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	withInitials := func(text string) *linksv1.ClaimLinkRequest {
		r := formOf(link, aNonce)
		r.Initials = &text
		return r
	}
	require.False(t, f.page(t, link).GetGifts()[1].GetTakesInitials())
	_, err := f.site.ClaimLink(t.Context(), withInitials("A. B."))
	requireViolations(t, err, "initials invalid")
	f.catalog.gifts[1].CustomizationAvailable = true
	require.True(t, f.page(t, link).GetGifts()[1].GetTakesInitials())
	for text, code := range map[string]string{
		"A. B. C. D.": "too_long", "A_B": "invalid", "A\nB": "invalid", "<A>": "invalid", "❤": "invalid", "A\u202eB": "invalid",
	} {
		_, err := f.site.ClaimLink(t.Context(), withInitials(text))
		requireViolations(t, err, "initials "+code)
		saved := f.save(t, &linksv1.SaveClaimDraftRequest{
			Token: token(link), FormNonce: aNonce, Gift: &linksv1.ClaimChoiceOfGift{ProductId: jerseyID, Initials: text},
		}).GetDraft()
		require.Equal(t, text, saved.GetGift().GetInitials())
		require.Equal(t, "invalid_request", saved.GetAnswer().GetCode())
		require.Equal(t, "initials", saved.GetAnswer().GetViolations()[0].GetField())
	}
	f.orders.Refuse(problem.Invalid(problem.Violation{Field: "customization", Code: problem.FieldInvalid, Message: "no"}))
	_, err = f.site.ClaimLink(t.Context(), withInitials("A. B."))
	requireViolations(t, err, "initials invalid")
	f.orders.Refuse(nil)
	require.Empty(t, f.orders.Placed())

	f.claim(t, withInitials("Å-1 & Ω'"))
	require.Equal(t, "Å-1 & Ω'", f.orders.Placed()[f.read(t, link).GetOrderId()].GetCustomization().GetDetails())
	require.Equal(t, "Å-1 & Ω'", f.claimedGift(t, link, new(aNonce)).GetGift().GetInitials())
	require.True(t, f.reopens(t, link, anotherForm, rightDigits))
	require.NotNil(t, f.claimedGift(t, link, new(anotherForm)).GetGift())
	require.Empty(t, f.claimedGift(t, link, new(anotherForm)).GetGift().GetInitials(), "another device does not see them")

	other := f.newLink(t)
	r := claimOf(other)
	r.Initials = new(" ")
	f.claim(t, r)
	require.Nil(t, f.orders.Placed()[f.read(t, other).GetOrderId()].GetCustomization(), "blanks are none")
}

func TestInitialsThatWereReviewedAreClaimedByAGatewayThatDoesNotKnowThem(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.gifts[1].CustomizationAvailable = true
	for typed, claimed := range map[*string]string{nil: "A. B.", new(""): ""} {
		link := f.newLink(t)
		f.save(t, &linksv1.SaveClaimDraftRequest{
			Token: token(link), FormNonce: aNonce, Gift: &linksv1.ClaimChoiceOfGift{ProductId: jerseyID, Initials: "A. B."},
		})
		r := formOf(link, aNonce)
		r.Initials = typed
		f.claim(t, r)
		require.Equal(t, claimed, f.orders.Placed()[f.read(t, link).GetOrderId()].GetCustomization().GetDetails())
	}
}

func TestIfOrdersRefusesTheLinkStaysOpenForAnotherChoice(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	for _, code := range []problem.Code{
		problem.OutOfStock, problem.InvalidVariations, problem.NotDeliverableToCountry, problem.ProductNotAvailable,
		problem.ProductNotInCampaign,
	} {
		f.orders.Refuse(problem.New(code, "no"))
		_, err := f.site.ClaimLink(t.Context(), claimOf(link))
		require.True(t, problem.Is(err, code), "%v", err)
	}
	f.orders.Refuse(problem.Invalid(
		problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid, Message: "no"},
		problem.Violation{Field: "recipient.address.postalCode", Code: problem.FieldRequired, Message: "no"}))
	_, err := f.site.ClaimLink(t.Context(), claimOf(link))
	requireViolations(t, err, "recipient.phone invalid", "recipient.postalCode required")
	f.orders.Refuse(problem.New(problem.CampaignNotActive, "over"))
	resp := f.claim(t, claimOf(link))
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, resp.GetState())
	f.orders.Refuse(problem.Unavailable())
	_, err = f.site.ClaimLink(t.Context(), claimOf(link))
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)

	require.True(t, proto.Equal(link, f.read(t, link)), "nothing has changed")
	require.Equal(t, []string{"personal_link.created"}, f.kinds(t, link.GetId()))
	f.orders.Refuse(nil)
	resp = f.claim(t, claimOf(link))
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())
}

func TestALinkWithAClaimInFlightIsShownOpen(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	_, err := f.store.LockClaim(t.Context(), f.tenant, link.GetId(), newID(), time.Hour)
	require.NoError(t, err)
	require.True(t, proto.Equal(link, f.read(t, link)), "callers see no change")
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, f.page(t, link).GetState())
}

func TestAnUnavailableChoiceIsRefusedUnlessAnotherClaimSucceeds(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for name, c := range map[string]struct {
		change func(r *linksv1.ClaimLinkRequest)
		want   problem.Code
	}{
		"a gift the link does not offer":  {func(*linksv1.ClaimLinkRequest) {}, problem.ProductNotAvailable},
		"a variation of a gift with none": {func(r *linksv1.ClaimLinkRequest) { r.ProductId = mugID }, problem.InvalidVariations},
	} {
		t.Run(name, func(t *testing.T) {
			link := f.create(t, f.toGifts(ann()))[0].GetLink()
			req := claimOf(link)
			c.change(req)
			_, err := f.store.LockClaim(t.Context(), f.tenant, link.GetId(), newID(), -time.Second)
			require.NoError(t, err)
			_, err = f.site.ClaimLink(t.Context(), req)
			require.True(t, problem.Is(err, c.want), "%v", err)
			require.Empty(t, f.orders.Placed(), "the other claim placed no order")
		})
	}
	t.Run("unless the other claim succeeded", func(t *testing.T) {
		link := f.create(t, f.toGifts(ann()))[0].GetLink()
		orderID := newID()
		_, err := f.store.LockClaim(t.Context(), f.tenant, link.GetId(), orderID, -time.Second)
		require.NoError(t, err)
		f.orders.Place(orderID)
		resp := f.claim(t, claimOf(link))
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())
		require.Len(t, f.orders.Placed(), 1)
	})
}

func TestNobodyClaimsALinkOfAnOffboardedTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.create(t, f.toCampaign(&linksv1.PersonalLinkRecipient{Label: "Bob"}))[0].GetLink()
	f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) { s.Offboarding = true })
	claimed := f.claim(t, claimOf(link))
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, claimed.GetState())
	page := f.page(t, link)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, page.GetState())
	require.Empty(t, page.GetLabel())
	f.directory.ChangeTenant(f.tenant, func(s *tenantstest.Settings) { s.Offboarding = false })
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_OPEN, f.page(t, link).GetState())
}
