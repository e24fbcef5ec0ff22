package giftsite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestAPlayerHasInitialsPutOnTheGift(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Message = nil
	require.NotContains(t, f.get("?gift=truffles").body, `name="initials"`)
	require.Contains(t, f.get("?gift=truffles").body, `<input type="hidden" name="step" value="gift">`)
	f.follow(choose("truffles", "initials", "A. L."))
	require.Empty(t, f.saves[0].GetGift().GetInitials(), "the gift takes none")
	f.page.Gifts[0].TakesInitials = true
	require.Contains(t, f.get("?gift=truffles").body, `<input type="hidden" name="step" value="initials">`,
		"a gateway of release 1.0.0, which would drop them, does not know the form")
	require.Contains(t, f.get("?gift=truffles").body,
		`<input dir="auto" id="initials" name="initials" type="text" value="" autocomplete="off"`)
	require.Contains(t, f.get("?gift=truffles").body, "For example G S, at most 10 characters.")
	f.follow(choose("truffles", "step", stepInitials, "initials", " O\u2019L. "))
	require.Equal(t, "O'L.", f.saves[1].GetGift().GetInitials(), "phones write a curly apostrophe")
	require.Contains(t, f.get("?gift=truffles").body, `name="initials" type="text" value="O&#39;L."`)
	require.Contains(t, f.follow(filled()).body, "<dt>Initials</dt><dd><bdi>O&#39;L.</bdi></dd>")
	f.send(f.confirm())
	require.Equal(t, "O'L.", f.claims[0].GetInitials())
	f.order.Gift.Initials = "O'L."
	require.Contains(t, f.get("").body, "<dt>Initials</dt><dd><bdi>O&#39;L.</bdi></dd>")
}

func TestInitialsThatAreRefusedAreCorrectedOnThePageOfTheGift(t *testing.T) {
	t.Parallel()
	for code, words := range map[string]string{
		problem.FieldInvalid: "Use only letters, digits, spaces and &amp; . - &#39;",
		problem.FieldTooLong: "At most 10 characters",
	} {
		f := setup(t)
		f.page.Gifts[0].TakesInitials = true
		f.follow(choose("truffles", "initials", "A_L"))
		f.drafts[f.nonce].Answer = &linksv1.ClaimAnswer{
			Code: string(problem.InvalidRequest), Violations: []*commonv1.Violation{{Field: "initials", Code: code}},
		}
		page := f.get("?step=review").Header().Get("Location")
		require.Equal(t, "/c/"+token+"?step=gift&gift=truffles", page)
		body := f.get("?step=gift&gift=truffles").body
		require.Contains(t, body, `<li><a href="#initials">Initials`)
		require.Contains(t, body, `<p class="error" id="initials-error"><span class="unseen">Error: </span>`+words)
		require.Contains(t, body, `value="A_L"`)
		require.Contains(t, f.follow(filled()).body, `<li><a href="#initials">Initials`, "also if the address is sent first, after Back")
	}
}

func TestAGiftThatNoLongerTakesInitialsIsChosenAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Gifts[0].TakesInitials = true
	f.follow(choose("truffles", "initials", "A. L."))
	f.follow(filled())
	f.page.Gifts[0].TakesInitials = false
	require.Equal(t, "/c/"+token+"?step=gift&gift=truffles", f.get("?step=review").Header().Get("Location"))
	require.Contains(t, f.get("?step=gift&gift=truffles").body, "Initials can no longer be put on this gift.")
	require.Contains(t, f.follow(choose("truffles")).body, "Is everything right?")
	f.send(f.confirm())
	require.Nil(t, f.claims[0].Initials, "personal-links of release 1.0.0 refuses the field")
}
