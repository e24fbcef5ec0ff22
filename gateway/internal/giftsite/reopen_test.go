package giftsite

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func lastDigitsOf(text string) url.Values { return url.Values{"step": {stepReopen}, "digits": {text}} }

func TestAPlayerSeesTheGiftOnAnotherDevice(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	require.NotContains(t, f.get("").body, `name="digits"`, "the browser that made the claim sees it anyway")
	f.nonce = ""
	page := f.get("").body
	require.Contains(t, page, "This gift has already been chosen")
	require.Contains(t, page, `name="digits" type="tel"`)
	require.Empty(t, f.nonce)

	seen := f.follow(lastDigitsOf(" ４٥6 7 ")).body
	require.Equal(t, []string{"4567"}, f.digits)
	require.Contains(t, seen, "Dark truffles")
	require.Contains(t, seen, "On this device we show neither the address nor the day of arrival")
	require.Contains(t, seen, "NP-1")
	for _, hidden := range []string{"Astrid", "A•••", "•••67", "Storgatan", "St•••", `name="word"`, "step=correct", `name="digits"`} {
		require.NotContains(t, seen, hidden)
	}
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
	f.order.Gift.TrackingUrl = "https://post.example/T-1"
	require.Contains(t, f.get("").body, `href="https://post.example/T-1"`)
}

func TestABrowserWithoutCookiesLearnsWhyItSeesNoGift(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.nonce = ""
	sent := f.send(lastDigitsOf("4567"))
	f.nonce = ""
	require.Contains(t, f.do(http.MethodGet, sent.Header().Get("Location"), "").body, "allow cookies for this page")
}

func TestDigitsThatAreRefusedSayWhy(t *testing.T) {
	t.Parallel()
	limited := problem.New(problem.RateLimited, "x")
	limited.RetryAfter = time.Hour + time.Minute
	invalid := func(code string) error { return problem.Invalid(problem.Violation{Field: "phoneDigits", Code: code}) }
	for name, tc := range map[string]struct {
		failure error
		want    string
	}{
		"wrong":     {nil, "These digits do not fit the phone number"},
		"none":      {invalid(problem.FieldRequired), "Enter the four digits"},
		"no digits": {invalid(problem.FieldInvalid), "Enter four digits, such as 0123"},
		"too often": {limited, "on which you chose the gift. You can try again in 2 hours."},
		"erased":    {problem.New(problem.NotEditable, "x"), "The details of this gift have been deleted"},
		"a failure": {problem.Unavailable(), "Your gift could not be shown just now."},
	} {
		f := ordered(t)
		f.nonce, f.reopenErr = "", tc.failure
		got := f.send(lastDigitsOf("1234"))
		require.Equal(t, http.StatusOK, got.Code, name)
		require.Contains(t, got.body, tc.want, name)
		require.Contains(t, got.body, `value="1234"`, name)
		require.Contains(t, got.body, "Please check: ", name)
		require.Empty(t, f.nonce, "%s: a browser that sees nothing keeps nothing", name)
		require.NotRegexp(t, `\b1234\b`, f.log.String(), name)
	}
}

func TestAWholePhoneNumberHasTheDigits(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"+46 (0)70-123 45 67": "4567", "0046701234567": "4567", "٠٧٠١٢٣٤٥٦٧": "4567", "4567": "4567", "567": "567",
		"070-call me": "070callme", "": "",
	} {
		require.Equal(t, want, lastDigits(typed), typed)
	}
}

func TestWhoTriesDigitsLearnsHowManyTriesAreLeft(t *testing.T) {
	t.Parallel()
	for left, want := range map[int32]string{
		4: "", 2: "You have 2 tries left.", 1: "You have 1 try left.", 0: "You can try again in 1 hour.",
	} {
		f := ordered(t)
		f.nonce, f.triesLeft = "", left
		page := f.send(lastDigitsOf("1234")).body
		require.Contains(t, page, "These digits do not fit the phone number", left)
		require.Contains(t, page, want)
		require.Equal(t, want != "", strings.Contains(page, "You "), left)
	}
}

func TestDigitsAreAskedForWhereThereIsAGift(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.nonce = ""
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED
	require.NotContains(t, f.get("").body, `name="digits"`)

	open := setup(t)
	require.Equal(t, "/c/"+token, open.send(lastDigitsOf("4567")).Header().Get("Location"))
	require.Empty(t, open.digits)
}
