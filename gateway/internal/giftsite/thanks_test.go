package giftsite

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// thankable is a browser that has claimed the link and may thank.
func thankable(t *testing.T) *fixture {
	t.Helper()
	f := ordered(t)
	f.order.Gift.AcceptsThanks = true
	return f
}

func words(text string) url.Values { return url.Values{"step": {stepThanks}, "word": {text}} }

func TestAPlayerThanksTheBrand(t *testing.T) {
	t.Parallel()
	f := thankable(t)
	page := f.get("").body
	require.Contains(t, page, "Write Nordlys Casino a note")
	f.page.Brand.Site = withSender()
	require.Contains(t, f.get("").body, "Write Maja Sandström a note")
	require.Contains(t, page, `name="word"`)
	require.NotContains(t, f.get("?step=thanked").body, "have been passed on")
	sent := f.send(words(" Thank\r\n<you> "))
	require.Equal(t, "/c/"+token+"?step=thanked", sent.Header().Get("Location"))
	require.Equal(t, []string{"Thank\n<you>"}, f.thanks)
	thanked := f.get("?step=thanked").body
	require.Contains(t, thanked, `role="status"><p>Your words have been passed on to Nordlys Casino.`)
	require.Contains(t, thanked, `<blockquote class="lines" dir="auto">Thank
&lt;you&gt;</blockquote>`)
	require.NotContains(t, thanked, `name="word"`)
	require.NotContains(t, f.log.String(), "Thank")

	t.Run("only this browser sees it", func(t *testing.T) {
		f.nonce = ""
		require.NotContains(t, f.get("").body, "Thank &lt;you&gt;")
		require.Contains(t, f.follow(words("Me too")).body, "This gift has already been chosen")
		require.Len(t, f.thanks, 1)
	})
}

func TestThanksAreAskedForWhereTheyAreAccepted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(f *fixture)
		asked  bool
	}{
		"being packed": {func(*fixture) {}, true},
		"delivered":    {func(f *fixture) { f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED }, true},
		"cancelled":    {func(f *fixture) { f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED }, false},
		"too late":     {func(f *fixture) { f.order.Gift.AcceptsThanks = false }, false},
		"off":          {func(f *fixture) { f.page.Brand.Site = &tenantsv1.GiftSite{WithoutThanks: true} }, false},
	} {
		f := thankable(t)
		tc.change(f)
		require.Equal(t, tc.asked, strings.Contains(f.get("").body, `name="word"`), name)
	}
}

func TestThanksThatAreRefusedKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	invalid := func(code string) error { return problem.Invalid(problem.Violation{Field: "text", Code: code}) }
	for name, tc := range map[string]struct {
		failure error
		want    string
	}{
		"empty":     {invalid(problem.FieldRequired), "Write a few words"},
		"too long":  {invalid(problem.FieldTooLong), "Your words – At most 280 characters"},
		"a failure": {problem.Unavailable(), "Your words could not be sent just now."},
	} {
		f := thankable(t)
		f.thankErr = tc.failure
		got := f.send(words("So nice")).body
		require.Contains(t, got, tc.want, name)
		require.Contains(t, got, "\nSo nice</textarea>", name)
		require.Contains(t, got, "Please check: ", name)
		require.NotContains(t, got, "Almost done", name)
		require.NotContains(t, f.get("").body, "So nice", name)
	}
	t.Run("what is over is shown as it is", func(t *testing.T) {
		f := thankable(t)
		f.thankErr = problem.New(problem.NotEditable, "over")
		require.Contains(t, f.follow(words("So nice")).body, "Thank you – we are preparing your gift")
	})
	t.Run("the button sends them again if the page cannot be shown", func(t *testing.T) {
		f, typed := thankable(t), words("So \"nice\"\r\n<3")
		f.pageErr = problem.Unavailable()
		got := f.send(typed)
		require.Equal(t, 503, got.Code)
		require.Equal(t, typed, got.again())
	})
}

func TestALinkThatIsNotClaimedTakesNoThanks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.review()
	require.Equal(t, "/c/"+token, f.send(words("So nice")).Header().Get("Location"))
	require.Empty(t, f.thanks)
}

func TestAComplaintHasTheReferenceOfTheOrder(t *testing.T) {
	t.Parallel()
	const mail = "mailto:vip@nordlys.example"
	for support, want := range map[string]string{
		mail: mail + "?subject=Something%20is%20wrong%20with%20my%20gift%3A%20NP-1",
		"https://nordlys.example/help?lang=sv#top": "https://nordlys.example/help?lang=sv&amp;reference=NP-1#top",
		"": "",
	} {
		f := ordered(t)
		f.page.Brand.Site = &tenantsv1.GiftSite{SupportUrl: proto.String(support)}
		require.NotContains(t, f.get("").body, "Something is wrong", "it was not sent yet")
		f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
		sent := f.get("").body
		require.NotContains(t, sent, "Something is wrong", "it has not arrived yet")
		require.Equal(t, want != "", strings.Contains(sent, ">Help</a>"), "a gift may not arrive")
		f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED
		got := f.get("").body
		if want == "" {
			require.NotContains(t, got, "Something is wrong")
			continue
		}
		require.Contains(t, got, `href="`+want+`" rel="noreferrer">Something is wrong with my gift</a>`)
		f.nonce = ""
		require.NotContains(t, f.get("").body, "NP-1")
	}
}
