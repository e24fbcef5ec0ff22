package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
)

func (f *fixture) claimed(t *testing.T) *linksv1.PersonalLink {
	t.Helper()
	link := f.newLink(t)
	f.claim(t, formOf(link, aNonce))
	return link
}

func (f *fixture) claimedGift(t *testing.T, l *linksv1.PersonalLink, nonce *string) *linksv1.GetClaimedGiftResponse {
	t.Helper()
	resp, err := f.site.GetClaimedGift(t.Context(), &linksv1.GetClaimedGiftRequest{Token: token(l), FormNonce: nonce})
	require.NoError(t, err)
	return resp
}

func TestOnlyThePlayerWhoClaimedALinkSeesItsOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	order := f.orders.Of(link.GetId())[0]
	mine := f.claimedGift(t, link, new(aNonce))
	require.Equal(t, "https://img.example.com/1", mine.GetGift().GetShown().GetImages()[0].GetUrl())
	mine.Gift.Shown = nil
	require.True(t, proto.Equal(&linksv1.GetClaimedGiftResponse{
		Progress: linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING,
		Gift: &linksv1.ClaimedGift{
			Reference: claimstest.Order(order).GetReference(), ProductName: "Jersey", Variations: map[string]string{"Size": "M"},
			ClaimedAt:       f.read(t, link).GetClaimedAt(),
			MaskedRecipient: &linksv1.ClaimRecipient{Name: "M•••", Street: "St•••", Country: "SE"}, CorrectableVersion: new(int64(0)),
			AcceptsThanks: true,
		},
	}, mine), "%v", mine)
	for name, nonce := range map[string]*string{"a stranger": nil, "another form": new(anotherForm), "a text": new("x")} {
		other := f.claimedGift(t, link, nonce)
		require.True(t, proto.Equal(&linksv1.GetClaimedGiftResponse{Progress: linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING}, other),
			"%s: %v", name, other)
	}

	f.orders.Send(order, epoch)
	sent := f.claimedGift(t, link, new(aNonce))
	require.Equal(t, linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, sent.GetProgress())
	require.Equal(t, "https://post.example/T-1", sent.GetGift().GetTrackingUrl())
	require.Nil(t, sent.GetGift().CorrectableVersion)
	require.Equal(t, epoch, sent.GetGift().GetSentAt().AsTime())
	require.Equal(t, epoch.Add(time.Hour), sent.GetGift().GetDeliveredAt().AsTime())
	stranger := f.claimedGift(t, link, nil)
	require.Nil(t, stranger.GetGift(), "a parcel's number leads to its address")

	t.Run("an open link has no order", func(t *testing.T) {
		_, err := f.site.GetClaimedGift(t.Context(), &linksv1.GetClaimedGiftRequest{Token: token(f.newLink(t)), FormNonce: new(aNonce)})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
	t.Run("an unknown token neither", func(t *testing.T) {
		_, err := f.site.GetClaimedGift(t.Context(), &linksv1.GetClaimedGiftRequest{Token: "x"})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
}

func TestTheOrderedGiftIsShownInTheWordsOfTheLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.create(t, f.toCampaign(&linksv1.PersonalLinkRecipient{Label: "Bob", Locale: new("sv-SE")}))[0].GetLink()
	f.claim(t, formOf(link, aNonce))
	gift := func() *linksv1.ClaimedGift { return f.claimedGift(t, link, new(aNonce)).GetGift() }
	require.Equal(t, "Jersey in sv-SE", gift().GetShown().GetName())

	f.catalog.closed, f.catalog.gifts, f.catalog.former = true, nil, f.catalog.gifts
	require.Equal(t, "Jersey in sv-SE", gift().GetShown().GetName(), "after its campaign has ended")
	require.Len(t, gift().GetShown().GetImages(), 1)

	t.Run("not without the catalog, and then only the words of the order", func(t *testing.T) {
		f.catalog.failure = problem.Unavailable()
		require.Nil(t, gift().GetShown())
		require.Equal(t, "Jersey", gift().GetProductName())
		f.catalog.hangs = true
		require.Nil(t, gift().GetShown(), "the page does not wait until its caller gives up")
		f.catalog.hangs = false
		f.catalog.failure, f.catalog.former = nil, nil
		require.Nil(t, gift().GetShown())
		require.Equal(t, map[string]string{"Size": "M"}, gift().GetVariations())
	})
}

func TestOnlyThePlayerWhoClaimedALinkCorrectsIt(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.claimed(t)
	req := &linksv1.CorrectClaimedGiftRequest{
		Token: token(link), FormNonce: aNonce, Recipient: &linksv1.ClaimRecipient{
			Street: "Marked Street 2", Name: " ", CourierComment: new("Ring twice"),
		},
	}
	f.save(t, &linksv1.SaveClaimDraftRequest{Token: token(link), FormNonce: aNonce, Recipient: req.GetRecipient()})
	stranger := proto.CloneOf(req)
	stranger.FormNonce = anotherForm
	_, err := f.site.CorrectClaimedGift(t.Context(), stranger)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.Empty(t, f.orders.Corrections())

	f.orders.Refuse(problem.Invalid(problem.Violation{Field: "recipient.address.street", Code: problem.FieldTooLong}))
	_, err = f.site.CorrectClaimedGift(t.Context(), req)
	requireViolations(t, err, "recipient.street "+problem.FieldTooLong)
	require.NotNil(t, f.draft(t, link, aNonce), "what was entered is kept")

	f.orders.Refuse(nil)
	_, err = f.site.CorrectClaimedGift(t.Context(), req)
	require.NoError(t, err)
	made := f.orders.Corrections()
	require.Len(t, made, 1)
	require.Equal(t, "Marked Street 2", made[0].GetRecipient().GetAddress().GetStreet())
	require.Equal(t, "Ring twice", made[0].GetCourierComment())
	require.Nil(t, made[0].GetRecipient().Name, "what is empty stays as it is")
	require.Nil(t, made[0].GetRecipient().GetAddress().Country)
	corrected := claimOf(link).GetRecipient()
	corrected.Street, corrected.CourierComment = "Marked Street 2", new("Ring twice")
	requireDraft := func(version int64) {
		t.Helper()
		require.True(t, proto.Equal(&linksv1.ClaimDraft{Recipient: corrected, OrderVersion: version}, f.draft(t, link, aNonce)),
			"%v", f.draft(t, link, aNonce))
	}
	requireDraft(1)
	_, err = f.site.CorrectClaimedGift(t.Context(), req)
	require.NoError(t, err, "it is sent again")
	requireDraft(1)
	req.Recipient = &linksv1.ClaimRecipient{Street: "Marked Street 3"}
	_, err = f.site.CorrectClaimedGift(t.Context(), req)
	require.True(t, problem.Is(err, problem.VersionConflict), "%v", err)
	requireDraft(1)
	req.ExpectedVersion, req.Recipient = 1, &linksv1.ClaimRecipient{Phone: "070-765 43 21"}
	_, err = f.site.CorrectClaimedGift(t.Context(), req)
	require.NoError(t, err)
	corrected.Phone = "+46 70 765 43 21"
	requireDraft(2)

	t.Run("after a change by another one, the draft does not know where it is sent", func(t *testing.T) {
		f.orders.CorrectedByOthers()
		req.ExpectedVersion, req.Recipient = 3, &linksv1.ClaimRecipient{City: "Visby"}
		_, err := f.site.CorrectClaimedGift(t.Context(), req)
		require.NoError(t, err)
		require.Nil(t, f.draft(t, link, aNonce))
	})

	t.Run("an open link has nothing to correct", func(t *testing.T) {
		open := proto.CloneOf(req)
		open.Token = token(f.newLink(t))
		_, err := f.site.CorrectClaimedGift(t.Context(), open)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
}

// An earlier correction had an error and was kept, to be mended. Meanwhile the order was sent.
func TestACorrectionThatComesTooLateDeletesWhatWasTyped(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.claimed(t)
	req := &linksv1.CorrectClaimedGiftRequest{
		Token: token(link), FormNonce: aNonce, Recipient: &linksv1.ClaimRecipient{Street: "Marked Street 2"},
	}
	f.save(t, &linksv1.SaveClaimDraftRequest{Token: token(link), FormNonce: aNonce, Recipient: req.GetRecipient()})
	f.orders.Refuse(problem.New(problem.NotEditable, "sent"))
	stranger := proto.CloneOf(req)
	stranger.FormNonce = anotherForm
	_, err := f.site.CorrectClaimedGift(t.Context(), stranger)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.Equal(t, 1, f.count(t, "form_drafts"))
	_, err = f.site.CorrectClaimedGift(t.Context(), req)
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	require.Zero(t, f.count(t, "form_drafts"))
}

func TestOnlyThePlayerWhoClaimedALinkThanks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	req := &linksv1.ThankForClaimedGiftRequest{Token: token(link), FormNonce: aNonce, Text: "Thank you!"}
	stranger := proto.CloneOf(req)
	stranger.FormNonce = anotherForm
	_, err := f.site.ThankForClaimedGift(t.Context(), stranger)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	require.True(t, f.claimedGift(t, link, new(aNonce)).GetGift().GetAcceptsThanks())

	f.setSite(&tenantsv1.GiftSite{WithoutThanks: true})
	_, err = f.site.ThankForClaimedGift(t.Context(), req)
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	require.Empty(t, f.claimedGift(t, link, new(aNonce)).GetGift().GetThanks())

	f.setSite(&tenantsv1.GiftSite{})
	f.orders.Refuse(problem.Invalid(problem.Violation{Field: "text", Code: problem.FieldTooLong}))
	_, err = f.site.ThankForClaimedGift(t.Context(), req)
	requireViolations(t, err, "text "+problem.FieldTooLong)
	f.orders.Refuse(nil)
	_, err = f.site.ThankForClaimedGift(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "Thank you!", f.claimedGift(t, link, new(aNonce)).GetGift().GetThanks())
	require.Nil(t, f.claimedGift(t, link, nil).GetGift())
}
