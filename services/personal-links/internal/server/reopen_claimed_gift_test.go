package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// rightDigits are the last ones of the phone number of claimOf.
const rightDigits = "4567"

func reopening(l *linksv1.PersonalLink, nonce, digits string) *linksv1.ReopenClaimedGiftRequest {
	return &linksv1.ReopenClaimedGiftRequest{Token: token(l), FormNonce: nonce, PhoneDigits: digits}
}

// reopens reports whether the digits let the form see the gift.
func (f *fixture) reopens(t *testing.T, l *linksv1.PersonalLink, nonce, digits string) bool {
	t.Helper()
	resp, err := f.site.ReopenClaimedGift(t.Context(), reopening(l, nonce, digits))
	require.NoError(t, err)
	return resp.GetReopened()
}

// requireClosed checks that a link takes no digits now.
func (f *fixture) requireClosed(t *testing.T, l *linksv1.PersonalLink) {
	t.Helper()
	_, err := f.site.ReopenClaimedGift(t.Context(), reopening(l, anotherForm, rightDigits))
	require.True(t, problem.Is(err, problem.RateLimited), "%v", err)
	require.Nil(t, f.claimedGift(t, l, new(anotherForm)).GetGift())
}

// waitForTry lets the pause of a link pass, by the clock of the database, and returns how long it was.
func (f *fixture) waitForTry(t *testing.T, l *linksv1.PersonalLink) time.Duration {
	t.Helper()
	var pause time.Duration
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT reopen_after - now() FROM links WHERE tenant_id = $1 AND id = $2",
		f.tenant, l.GetId()).Scan(&pause))
	_, err := f.pool.Exec(t.Context(), "UPDATE links SET reopen_after = now() WHERE tenant_id = $1 AND id = $2", f.tenant, l.GetId())
	require.NoError(t, err)
	return pause
}

func TestAPlayerSeesTheGiftOnAnotherDeviceWithoutTheRecipient(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	f.orders.Send(f.orders.Of(link.GetId())[0], epoch)
	require.False(t, f.reopens(t, link, anotherForm, "4568"))
	require.Nil(t, f.claimedGift(t, link, new(anotherForm)).GetGift())
	require.True(t, f.reopens(t, link, anotherForm, rightDigits))

	mine, gift := f.claimedGift(t, link, new(aNonce)).GetGift(), f.claimedGift(t, link, new(anotherForm)).GetGift()
	require.NotNil(t, mine.GetMaskedRecipient())
	mine.MaskedRecipient, mine.AcceptsThanks = nil, false
	require.True(t, proto.Equal(mine, gift), "all but the recipient and the thanks: %v", gift)
	require.Nil(t, f.claimedGift(t, link, nil).GetGift())
	require.Nil(t, f.draft(t, link, anotherForm))

	t.Run("and changes nothing", func(t *testing.T) {
		_, err := f.site.CorrectClaimedGift(t.Context(), &linksv1.CorrectClaimedGiftRequest{
			Token: token(link), FormNonce: anotherForm, Recipient: &linksv1.ClaimRecipient{Street: "Marked Street 2"},
		})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		_, err = f.site.ThankForClaimedGift(t.Context(),
			&linksv1.ThankForClaimedGiftRequest{Token: token(link), FormNonce: anotherForm, Text: "Thank you!"})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
	t.Run("until a day later", func(t *testing.T) {
		_, err := f.pool.Exec(t.Context(), "UPDATE form_drafts SET expires_at = now() WHERE tenant_id = $1 AND link_id = $2",
			f.tenant, link.GetId())
		require.NoError(t, err)
		require.Nil(t, f.claimedGift(t, link, new(anotherForm)).GetGift())
	})
	t.Run("the form that made the claim keeps all it sees", func(t *testing.T) {
		require.True(t, f.reopens(t, link, aNonce, rightDigits))
		require.NotNil(t, f.claimedGift(t, link, new(aNonce)).GetGift().GetMaskedRecipient())
	})
}

func TestALinkTakesFiveTriesAndThenFewerAndFewer(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link, other := f.claimed(t), f.claimed(t)
	for left := 4; left >= 0; left-- {
		resp, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, "0000"))
		require.NoError(t, err)
		require.EqualValues(t, left, resp.GetTriesLeft())
		require.Equal(t, left == 0, resp.GetPause().AsDuration() > 0)
	}
	_, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, rightDigits))
	limited, _ := problem.As(err)
	require.InDelta(t, 1, limited.RetryAfter.Hours(), 0.01)
	f.requireClosed(t, link)
	require.NotNil(t, f.claimedGift(t, link, new(aNonce)).GetGift(), "the player's own browser is not locked out")
	for _, hours := range []int{1, 2, 4, 8, 16, 32, 32} {
		require.InDelta(t, hours, f.waitForTry(t, link).Hours(), 0.01)
		require.False(t, f.reopens(t, link, anotherForm, "0000"))
		f.requireClosed(t, link)
	}
	require.True(t, f.reopens(t, other, anotherForm, rightDigits), "another link has tries of its own")

	t.Run("the right digits begin them anew", func(t *testing.T) {
		f.waitForTry(t, link)
		require.True(t, f.reopens(t, link, anotherForm, rightDigits))
		for range 5 {
			require.False(t, f.reopens(t, link, anotherForm, "0000"))
		}
		_, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, rightDigits))
		require.True(t, problem.Is(err, problem.RateLimited), "%v", err)
	})
}

func TestAClockThatWasAheadLocksNobodyOut(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	for ahead, want := range map[string]bool{"31 hours": false, "33 hours": true} {
		_, err := f.pool.Exec(t.Context(), `UPDATE links SET reopen_tries = 5, reopen_after = now() + $3::interval
WHERE tenant_id = $1 AND id = $2`, f.tenant, link.GetId(), ahead)
		require.NoError(t, err)
		_, err = f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, rightDigits))
		require.Equal(t, want, err == nil, "%s: %v", ahead, err)
	}
}

func TestManyTriesAtOnceAreNoMoreThanFive(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	compared := problemtest.AtOnce(t, 40, func(i int) error {
		_, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, fmt.Sprintf("%s-%d", anotherForm, i), fmt.Sprintf("%04d", i)))
		return err
	}, problem.RateLimited)
	require.Equal(t, 5, compared)
	f.requireClosed(t, link)
}

func TestATryThatFailsIsCounted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	f.orders.Refuse(problem.Unavailable())
	for range 5 {
		_, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, rightDigits))
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	}
	f.orders.Refuse(nil)
	f.requireClosed(t, link)
}

func TestDigitsThatAreNoneCostNoTry(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.claimed(t)
	for range 2 {
		for digits, code := range map[string]string{
			"": problem.FieldRequired, "456": problem.FieldInvalid, "45678": problem.FieldInvalid, "45a7": problem.FieldInvalid,
			"٤٥": problem.FieldInvalid,
		} {
			_, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, digits))
			requireViolations(t, err, "phoneDigits "+code)
		}
	}
	_, err := f.site.ReopenClaimedGift(t.Context(), reopening(link, "short", rightDigits))
	requireViolations(t, err, "formNonce "+problem.FieldInvalid)
	require.True(t, f.reopens(t, link, anotherForm, rightDigits))
}

func TestOnlyAClaimedGiftIsReopened(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.site.ReopenClaimedGift(t.Context(), reopening(f.newLink(t), anotherForm, rightDigits))
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = f.site.ReopenClaimedGift(t.Context(),
		&linksv1.ReopenClaimedGiftRequest{Token: "x", FormNonce: anotherForm, PhoneDigits: rightDigits})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)

	link := f.claimed(t)
	f.orders.Erase()
	_, err = f.site.ReopenClaimedGift(t.Context(), reopening(link, anotherForm, rightDigits))
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
}
