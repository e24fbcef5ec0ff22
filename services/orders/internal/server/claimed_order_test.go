package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// placeClaimed places the order of claim.
func (f *fixture) placeClaimed(t *testing.T) *ordersv1.Order {
	t.Helper()
	placed, err := f.PlaceClaimedOrder(t.Context(), claim())
	require.NoError(t, err)
	return placed.GetOrder()
}

// seen is a request of the page of the claim's link.
func seen() *ordersv1.GetClaimedOrderRequest {
	return &ordersv1.GetClaimedOrderRequest{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID}
}

// claimed is what the player sees.
func (f *fixture) claimed(t *testing.T) *ordersv1.GetClaimedOrderResponse {
	t.Helper()
	req := seen()
	req.WithRecipient = true
	got, err := f.GetClaimedOrder(t.Context(), req)
	require.NoError(t, err)
	return got
}

func playerCorrection(version int64, recipient *ordersv1.DeliveryCorrection) *ordersv1.CorrectClaimedOrderRequest {
	return &ordersv1.CorrectClaimedOrderRequest{
		OrderId: claimedID, TenantId: tenantID, PersonalLinkId: linkID, ExpectedVersion: &version, Recipient: recipient,
	}
}

func newStreet(text string) *ordersv1.DeliveryCorrection {
	return &ordersv1.DeliveryCorrection{Address: &ordersv1.AddressCorrection{Street: &text}}
}

func TestAPlayerSeesTheClaimedOrder(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	order := f.placeClaimed(t)
	got, err := f.GetClaimedOrder(t.Context(), seen())
	require.NoError(t, err)
	require.Equal(t, order.GetReference(), got.GetOrder().GetReference())
	require.Nil(t, got.GetMaskedRecipient())
	got = f.claimed(t)
	require.Equal(t, "Ma•••", got.GetMaskedRecipient().GetAddress().GetStreet())
	require.NotContains(t, got.String(), "Marked Street")
	require.Zero(t, f.count(t, "order_audit"))

	t.Run("and whether somebody knows its phone number", func(t *testing.T) {
		require.Nil(t, got.PhoneMatches)
		known := seen()
		known.WithRecipient = true
		for digits, matches := range map[string]bool{"4567": true, "4568": false, "": false} {
			known.PhoneDigits = &digits
			got, err := f.GetClaimedOrder(t.Context(), known)
			require.NoError(t, err)
			require.Equal(t, &matches, got.PhoneMatches, digits)
		}
	})
	t.Run("but not one of another link", func(t *testing.T) {
		for _, other := range []*ordersv1.GetClaimedOrderRequest{
			{OrderId: claimedID, TenantId: tenantID, PersonalLinkId: newID()},
			{OrderId: newID(), TenantId: tenantID, PersonalLinkId: linkID},
			{OrderId: claimedID, TenantId: newID(), PersonalLinkId: linkID},
		} {
			_, err := f.GetClaimedOrder(t.Context(), other)
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		}
		_, err := f.GetClaimedOrder(t.Context(), &ordersv1.GetClaimedOrderRequest{OrderId: "x"})
		require.True(t, problem.Is(err, problem.InvalidRequest))
	})
	t.Run("nor details that were erased", func(t *testing.T) {
		_, err := f.pool.Exec(t.Context(), "UPDATE orders SET details_sealed = '', details_erased_at = now() WHERE id = $1", claimedID)
		require.NoError(t, err)
		require.Nil(t, f.claimed(t).GetMaskedRecipient())
		req := seen()
		req.WithRecipient, req.PhoneDigits = true, new("4567")
		got, err := f.GetClaimedOrder(t.Context(), req)
		require.NoError(t, err)
		require.Nil(t, got.PhoneMatches)
	})
}

func TestAPlayerSeesWhatIsPutOnTheGift(t *testing.T) {
	t.Parallel()
	for details, want := range map[string]string{"Å. B.": "Å. B.", " ": ""} {
		f := setup(t)
		r := claim()
		r.Customization = &ordersv1.OrderCustomization{Details: details}
		_, err := f.PlaceClaimedOrder(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, want != "", f.catalog.checked.GetCustomization(), "the catalog refuses it for a gift that takes none")
		got, err := f.GetClaimedOrder(t.Context(), seen())
		require.NoError(t, err)
		require.Empty(t, got.GetCustomization())
		require.Equal(t, want, f.claimed(t).GetCustomization())
	}
}

func TestAPlayerSeesWhenTheOrderWasSentAndDelivered(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeClaimed(t)
	require.Nil(t, f.claimed(t).GetSentAt())
	f.dispatch(t, claimedID)
	sent := f.claimed(t)
	require.NotNil(t, sent.GetSentAt())
	require.Nil(t, sent.GetDeliveredAt())
	f.deliver(t, claimedID)
	require.Equal(t, sent.GetSentAt().String(), f.claimed(t).GetSentAt().String())
	require.NotNil(t, f.claimed(t).GetDeliveredAt())

	t.Run("not without the recipient", func(t *testing.T) {
		got, err := f.GetClaimedOrder(t.Context(), seen())
		require.NoError(t, err)
		require.Nil(t, got.GetSentAt())
		require.Nil(t, got.GetDeliveredAt())
	})
	t.Run("nor after its status was set back", func(t *testing.T) {
		_, err := f.correct(t, claimedID, processingStatus)
		require.NoError(t, err)
		require.Nil(t, f.claimed(t).GetSentAt())
		require.Nil(t, f.claimed(t).GetDeliveredAt())
	})
}

func TestAPlayerCorrectsTheDelivery(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	placed := claim()
	placed.CourierComment = new("Marked code 1234")
	_, err := f.PlaceClaimedOrder(t.Context(), placed)
	require.NoError(t, err)
	require.Equal(t, "Marked code 1234", detailsIn(t, f.store, claimedID).CourierComment)
	correction := newStreet("Marked Street 2")
	correction.Phone = new("070-765 43 21")
	req := playerCorrection(0, correction)
	req.CourierComment = new("Marked code 4321")
	got, err := f.CorrectClaimedOrder(t.Context(), req)
	require.NoError(t, err)
	require.EqualValues(t, 1, got.GetOrder().GetVersion())
	details := detailsIn(t, f.store, claimedID)
	require.Equal(t, "Marked Street 2", details.Recipient.Street)
	require.Equal(t, "Marked code 4321", details.CourierComment)
	require.Equal(t, "+46707654321", details.Recipient.Phone, "the country code of the order is added")
	e := f.lastEvent(t)
	require.Equal(t, "order.updated", e.kind)
	require.Zero(t, e.origin, "every key of the tenant gets the event")
	require.Equal(t, 1, f.count(t, "order_audit WHERE actor_kind = 'SYSTEM' AND actor_id = 'Player' AND "+
		"operation = 'CORRECT_DELIVERY' AND version_before = 0 AND version_after = 1"))

	t.Run("once, if it is sent again", func(t *testing.T) {
		again, err := f.CorrectClaimedOrder(t.Context(), req)
		require.NoError(t, err)
		require.True(t, proto.Equal(got.GetOrder(), again.GetOrder()), "%v", again.GetOrder())
		require.Equal(t, e, f.lastEvent(t))
	})
	t.Run("not with an old version", func(t *testing.T) {
		_, err := f.CorrectClaimedOrder(t.Context(), playerCorrection(0, newStreet("Marked Street 3")))
		require.True(t, problem.Is(err, problem.VersionConflict), "%v", err)
	})
	t.Run("not by the page of another link", func(t *testing.T) {
		req := playerCorrection(1, newStreet("Marked Street 3"))
		req.PersonalLinkId = newID()
		_, err := f.CorrectClaimedOrder(t.Context(), req)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
	t.Run("not with errors", func(t *testing.T) {
		_, err := f.CorrectClaimedOrder(t.Context(), playerCorrection(1, &ordersv1.DeliveryCorrection{Phone: new("070")}))
		require.Equal(t, []string{"recipient.phone invalid"}, violationsOf(t, err))
	})
	t.Run("not to another country", func(t *testing.T) {
		_, err := f.CorrectClaimedOrder(t.Context(),
			playerCorrection(1, &ordersv1.DeliveryCorrection{Address: &ordersv1.AddressCorrection{Country: new("NO")}}))
		require.True(t, problem.Is(err, problem.CountryChangeNotAllowed), "%v", err)
	})
	t.Run("not after it was cancelled", func(t *testing.T) {
		_, err := f.pool.Exec(t.Context(), `UPDATE orders SET status = 'CANCELLED', cancellation_reason = 'No.' WHERE id = $1`, claimedID)
		require.NoError(t, err)
		_, err = f.CorrectClaimedOrder(t.Context(), playerCorrection(1, newStreet("Marked Street 3")))
		require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	})
	require.Equal(t, details, detailsIn(t, f.store, claimedID))
	require.Equal(t, 1, f.count(t, "order_audit"))
}

func TestAPlayerCorrectsAnOrderAtMostTenTimes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeClaimed(t)
	for i := range int64(10) {
		_, err := f.CorrectClaimedOrder(t.Context(), playerCorrection(i, newStreet(string(rune('A'+i))+" Street")))
		require.NoError(t, err)
	}
	_, err := f.CorrectClaimedOrder(t.Context(), playerCorrection(10, newStreet("Marked Street 3")))
	require.True(t, problem.Is(err, problem.RateLimited), "%v", err)
	_, err = f.CorrectClaimedOrder(t.Context(), playerCorrection(9, newStreet("J Street")))
	require.NoError(t, err, "the last one, sent again")
	require.EqualValues(t, 10, f.read(t, claimedID).GetVersion())
}

func TestConcurrentCorrectionsOfAVersionChangeItOnce(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.placeClaimed(t)
	made := problemtest.AtOnce(t, 5, func(i int) error {
		_, err := f.CorrectClaimedOrder(t.Context(), playerCorrection(0, newStreet(string(rune('A'+i))+" Street")))
		return err
	}, problem.VersionConflict)
	require.Equal(t, 1, made)
	require.Equal(t, 1, f.count(t, "order_audit"))
	require.Equal(t, 2, f.count(t, "outbox"))
}
