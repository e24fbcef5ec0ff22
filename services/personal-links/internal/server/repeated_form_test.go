package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// The nonces of two forms.
const (
	aNonce      = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	anotherForm = "BBBBBBBBBBBBBBBBBBBBBBBBBB"
)

// formOf is a player's choice of the jersey in the form with the nonce.
func formOf(l *linksv1.PersonalLink, nonce string) *linksv1.ClaimLinkRequest {
	req := claimOf(l)
	req.FormNonce = &nonce
	return req
}

// requireReference checks that a repetition of the form that claimed the link gets the reference, and nothing else does.
func (f *fixture) requireReference(t *testing.T, link *linksv1.PersonalLink) {
	t.Helper()
	placed := f.orders.Of(link.GetId())
	require.Len(t, placed, 1)
	again := f.claim(t, formOf(link, aNonce))
	require.Equal(t, claimstest.Order(placed[0]).GetReference(), again.GetOrderReference())
	for name, req := range map[string]*linksv1.ClaimLinkRequest{
		"another form": formOf(link, anotherForm), "no form": claimOf(link), "an empty nonce": formOf(link, ""),
	} {
		other := f.claim(t, req)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, other.GetState(), name)
		require.Nil(t, other.OrderReference, name)
	}
	require.Len(t, f.orders.Of(link.GetId()), 1)
	require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
}

func TestARepeatedFormGetsTheReferenceOfItsOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	f.claim(t, formOf(link, aNonce))
	f.requireReference(t, link)
	t.Run("but not on another link", func(t *testing.T) {
		other := f.newLink(t)
		f.claim(t, formOf(other, anotherForm))
		again := f.claim(t, formOf(other, aNonce))
		require.Nil(t, again.OrderReference)
	})
}

func TestALinkClaimedWithoutAFormGivesNoReference(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	f.claim(t, claimOf(link))
	for _, nonce := range []string{"", aNonce} {
		again := f.claim(t, formOf(link, nonce))
		require.Nil(t, again.OrderReference)
	}
}

func TestEveryConcurrentRequestOfOneFormGetsTheReference(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	f.save(t, draftOf(link, aNonce))
	claimed := make([]*linksv1.ClaimLinkResponse, 10)
	problemtest.AtOnce(t, len(claimed), func(i int) (err error) {
		claimed[i], err = f.site.ClaimLink(t.Context(), formOf(link, aNonce))
		return err
	})
	for _, resp := range claimed {
		require.Equal(t, claimstest.Order(f.read(t, link).GetOrderId()).GetReference(), resp.GetOrderReference())
	}
	f.requireReference(t, link)
	require.Zero(t, f.draft(t, link, aNonce).GetVersion(), "what was entered is deleted, except for the recipient of the claim")
	require.NotNil(t, f.claimedGift(t, link, new(aNonce)).GetGift())
}

func TestARepeatedFormGetsTheReferenceAlthoughNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *gifts){
		"it got the last unit":    func(c *gifts) { c.gifts[1].Skus[1].StockRemaining = new(int32(0)) },
		"the campaign was closed": func(c *gifts) { c.closed = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			link := f.newLink(t)
			orderID := rules.NewClaimID(rules.FormRequest(aNonce), link.GetId())
			_, err := f.store.LockClaim(t.Context(), f.tenant, link.GetId(), orderID, -time.Second)
			require.NoError(t, err)
			f.orders.Place(orderID)
			end(f.catalog)
			resp := f.claim(t, formOf(link, aNonce))
			require.Equal(t, claimstest.Order(orderID).GetReference(), resp.GetOrderReference())
		})
	}
}

func TestARepeatedFormGetsTheReferenceAfterAFailureAtAnyStep(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]bool{"crash": true, "one call fails": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupWithoutTwins(t)
			points := 0
			for met := true; met; points++ {
				link := f.newLink(t)
				f.save(t, draftOf(link, aNonce))
				failure := &claimstest.Failure{At: points, Crash: crash}
				_, err := f.newServer(f.failing(failure)).ClaimLink(t.Context(), formOf(link, aNonce))
				require.True(t, failure.Reached || err == nil, "%v", err)
				open := f.read(t, link).GetStatus() == rules.Active
				require.Equal(t, open, f.draft(t, link, aNonce).GetVersion() > 0, "the page of the review is shown until the link is claimed")
				f.endLeases(t)
				f.claim(t, formOf(link, aNonce))
				f.requireReference(t, link)
				require.NotNil(t, f.claimedGift(t, link, new(aNonce)).GetGift(), "its browser sees the order")
				require.Zero(t, f.draft(t, link, aNonce).GetVersion())
				met = failure.Reached
			}
			require.Greater(t, points, 6, "lock, place and finish have two points each")
		})
	}
}

func TestAFormDoesNotGetTheOrderThatALinkHasLost(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.claim(t, formOf(link, aNonce))
	f.set(t, link, "status = 'ACTIVE', order_id = NULL, claimed_at = NULL") // As after a restore.
	stranger := f.claim(t, formOf(link, anotherForm))
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, stranger.GetState())
	require.Nil(t, stranger.OrderReference)
	again := f.claim(t, formOf(link, aNonce))
	require.Equal(t, claimstest.Order(f.orders.Of(link.GetId())[0]).GetReference(), again.GetOrderReference())
}

func TestAReferenceThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.claim(t, formOf(link, aNonce))
	broken := f.newServer(f.saga(f.store, claimstest.FailingOrders{Orders: f.orders, Failure: &claimstest.Failure{Crash: true}}))
	_, err := broken.ClaimLink(t.Context(), formOf(link, aNonce))
	require.ErrorIs(t, err, claimstest.ErrBroken)
	f.requireReference(t, link)
}

func TestANonceOfAWrongLengthIsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	for _, nonce := range []string{"short", aNonce + aNonce + aNonce} {
		_, err := f.site.ClaimLink(t.Context(), formOf(link, nonce))
		requireViolations(t, err, "formNonce "+problem.FieldInvalid)
	}
	require.Empty(t, f.orders.Placed())
}
