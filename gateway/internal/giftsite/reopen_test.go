package giftsite

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func lastDigits(text string) url.Values { return url.Values{"step": {stepReopen}, "digits": {text}} }

func TestAPlayerSeesTheGiftOnAnotherDevice(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	require.NotContains(t, f.get("").body, `name="digits"`, "the browser that made the claim sees it anyway")
	f.nonce = ""
	page := f.get("").body
	require.Contains(t, page, "This gift has already been chosen")
	require.Contains(t, page, `name="digits" type="tel"`)
	require.Empty(t, f.nonce)

	seen := f.follow(lastDigits(" ４٥6 7 ")).body
	require.Equal(t, []string{"4567"}, f.digits)
	require.Contains(t, seen, "Dark truffles")
	require.Contains(t, seen, "NP-1")
	for _, hidden := range []string{"Astrid", "A•••", "•••67", "Storgatan", "St•••", `name="word"`, "step=correct", `name="digits"`} {
		require.NotContains(t, seen, hidden)
	}
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
	f.order.Gift.TrackingUrl = "https://post.example/T-1"
	require.Contains(t, f.get("").body, `href="https://post.example/T-1"`)
}

func TestDigitsThatAreRefusedSayWhy(t *testing.T) {
	t.Parallel()
	invalid := func(code string) error { return problem.Invalid(problem.Violation{Field: "phoneDigits", Code: code}) }
	for name, tc := range map[string]struct {
		failure error
		want    string
	}{
		"wrong":     {nil, "These are not the last four digits"},
		"none":      {invalid(problem.FieldRequired), "Enter the four digits"},
		"no digits": {invalid(problem.FieldInvalid), "Enter four digits, such as 0123"},
		"too often": {problem.New(problem.RateLimited, "x"), "There were too many tries."},
		"erased":    {problem.New(problem.NotEditable, "x"), "The details of this gift have been deleted"},
		"a failure": {problem.Unavailable(), "Your gift could not be shown just now."},
	} {
		f := ordered(t)
		f.nonce, f.reopenErr = "", tc.failure
		got := f.send(lastDigits("1234"))
		require.Equal(t, http.StatusOK, got.Code, name)
		require.Contains(t, got.body, tc.want, name)
		require.Contains(t, got.body, `value="1234"`, name)
		require.Contains(t, got.body, "Please check: ", name)
		require.Empty(t, f.nonce, "%s: a browser that sees nothing keeps nothing", name)
		require.NotContains(t, f.log.String(), "1234", name)
	}
}

func TestDigitsAreAskedForWhereThereIsAGift(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.nonce = ""
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED
	require.NotContains(t, f.get("").body, `name="digits"`)

	open := setup(t)
	require.Equal(t, "/c/"+token, open.send(lastDigits("4567")).Header().Get("Location"))
	require.Empty(t, open.digits)
}
