package giftsite

import (
	"net/url"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// ordered is a browser that has claimed the link.
func ordered(t *testing.T) *fixture {
	t.Helper()
	f := setup(t)
	f.review()
	f.follow(f.confirm())
	return f
}

func correction(values ...string) url.Values {
	form := url.Values{"step": {stepCorrect}, "version": {"3"}}
	for pair := range slices.Chunk(values, 2) {
		form.Set(pair[0], pair[1])
	}
	return form
}

func TestTheLinkShowsTheWayOfItsOrder(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	thanks := f.get("").body
	for _, shown := range []string{
		"Thank you", "NP-1", "Dark truffles", "A••• L•••", "St•••", "Sweden", `href="?step=correct"`,
	} {
		require.Contains(t, thanks, shown)
	}
	require.NotContains(t, thanks, "Astrid", "the label is not shown any more")

	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT
	f.order.Gift.Carrier, f.order.Gift.TrackingReference, f.order.Gift.TrackingUrl = "PostNord", "T-1", "https://post.example/T-1"
	f.order.Gift.CorrectableVersion = nil
	sent := f.get("").body
	require.Contains(t, sent, "Your gift is on its way")
	require.Contains(t, sent, `href="https://post.example/T-1" rel="noreferrer"`)
	require.Contains(t, sent, "<bdi>PostNord</bdi> <bdi>T-1</bdi>")
	require.NotContains(t, sent, "?step=correct")
	f.order.Gift.TrackingUrl = "javascript:alert(1)"
	require.NotContains(t, f.get("").body, "alert")

	f.order.Progress = 99
	require.Equal(t, 200, f.get("").Code)
}

var wayStep = regexp.MustCompile(`<li class="(\w+)"[^>]*>([^<]*)(?:<span[^>]*>[^<]*</span>)?(<time.*</time>)?</li>`)

// way are the steps of the order on a page: the class of each, its text and its day.
func way(page string) (steps [][]string) {
	for _, step := range wayStep.FindAllStringSubmatch(page, -1) {
		steps = append(steps, step[1:])
	}
	return steps
}

func TestEachReachedStepHasItsDay(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	at := func(month time.Month, day int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, month, day, 23, 59, 59, 0, time.UTC))
	}
	const (
		october31 = `<time datetime="2026-10-31">October 31</time>`
		november1 = `<time datetime="2026-11-01">November 1</time>`
		november3 = `<time datetime="2026-11-03">November 3</time>`
	)
	f.order.Gift.ClaimedAt = at(time.October, 31)
	require.Equal(t,
		[][]string{{"done", "Chosen", october31}, {"current", "Being packed", ""}, {"ahead", "Sent", ""}, {"ahead", "Delivered", ""}},
		way(f.get("").body))

	f.order.Progress, f.order.Gift.SentAt = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, at(time.November, 1)
	f.order.Gift.DeliveredAt = at(time.November, 3) // A step that is ahead has no day.
	require.Equal(t,
		[][]string{{"done", "Chosen", october31}, {"done", "Packed", ""}, {"current", "Sent", november1}, {"ahead", "Delivered", ""}},
		way(f.get("").body))

	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED
	require.Equal(t,
		[][]string{{"done", "Chosen", october31}, {"done", "Packed", ""}, {"done", "Sent", november1}, {"done", "Delivered", november3}},
		way(f.get("").body))

	f.order.Gift.SentAt = nil
	require.Equal(t, []string{"done", "Sent", ""}, way(f.get("").body)[2], "the day is not known")
}

func TestTheOrderIsShownInTheWordsOfTheLink(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.Variations = map[string]string{"Colour": "Navy"}
	require.Contains(t, f.get("").body, "<dt>Colour</dt><dd><bdi>Navy</bdi></dd>")
	f.order.Gift.Shown = &linksv1.ClaimGift{
		Name: "Mörka tryfflar", Images: []*linksv1.ClaimImage{{Url: public + "/catalog/images/t"}},
		Variations: []*linksv1.ClaimVariation{
			{Dimension: "Colour", Values: []string{"Navy"}, Name: "Färg", ValueNames: []string{"Marinblå"}},
		},
	}
	shown := f.get("").body
	for _, want := range []string{
		"Mörka tryfflar", `src="` + public + `/catalog/images/t"`, "<dt>Färg</dt><dd><bdi>Marinblå</bdi></dd>",
	} {
		require.Contains(t, shown, want)
	}
	require.NotContains(t, shown, "Dark truffles")
	f.order.Gift.Variations["Size"] = "M"
	require.Contains(t, f.get("").body, "<dt>Size</dt><dd><bdi>M</bdi></dd>", "a dimension that the gift had when it was ordered")
}

func TestAPictureThatIsNotShownIsNotRequested(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const hero = public + "/catalog/images/hero"
	f.page.Brand.Hero = []*linksv1.ClaimImage{{Url: hero}}
	require.Contains(t, f.get("").body, hero+`"`)
	f.review()
	require.NotContains(t, f.follow(f.confirm()).body, hero+`"`)
	require.NotContains(t, f.get("?step=correct").body, hero+`"`)
	f.page.State = linksv1.ClaimState_CLAIM_STATE_EXPIRED
	require.NotContains(t, f.get("").body, hero+`"`)
}

// Without the cookie of its player, a link shows how far its order is, but neither the gift nor the address.
func TestAStrangerSeesOnlyTheProgress(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.nonce = ""
	f.order.Gift.TrackingReference, f.order.Gift.ClaimedAt = "T-1", timestamppb.Now()
	got := f.get("?step=correct")
	require.Contains(t, got.body, "This gift has already been chosen")
	require.Contains(t, got.body, `aria-current="step">Being packed`)
	require.NotContains(t, got.body, "will be sent", "the text is also that of a delivered order")
	for _, hidden := range []string{"NP-1", "Dark truffles", "•••", "T-1", "Visby", "Astrid", "<time"} {
		require.NotContains(t, got.body, hidden)
	}
	require.Empty(t, got.Result().Cookies())
}

func TestAnOrderThatCannotBeReadIsNoOtherState(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.orderErr = problem.Unavailable()
	require.Equal(t, 503, f.get("").Code)
	f.orderErr = problem.RecordNotFound()
	require.Contains(t, f.get("").body, "This gift has already been chosen")
}

func TestAPlayerCorrectsTheAddress(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	page := f.get("?step=correct").body
	require.Contains(t, page, "Now: St•••")
	require.Contains(t, page, `name="version" value="3"`)
	require.Contains(t, page, "Delivery country: Sweden.")
	require.NotContains(t, page, " required")
	done := f.follow(correction("street", " Nygatan 2 "))
	require.Contains(t, done.body, "Your delivery details have been corrected.")
	require.Len(t, f.corrections, 1)
	require.True(t, proto.Equal(&linksv1.CorrectClaimedGiftRequest{
		Token: token, FormNonce: f.nonce, ExpectedVersion: 3, Recipient: &linksv1.ClaimRecipient{Street: "Nygatan 2"},
	}, f.corrections[0]), "%v", f.corrections[0])

	t.Run("nothing", func(t *testing.T) {
		require.Contains(t, f.follow(correction()).body, `role="status"><p>Nothing was changed.`)
		require.Len(t, f.corrections, 1)
	})
}

func TestACorrectionThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	const failed = "<p>Your changes could not be saved just now. Please try again.</p>"
	for name, tc := range map[string]struct {
		failure error
		want    string
	}{
		"a field": {
			problem.Invalid(problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid}),
			`<a href="#phone">`,
		},
		"another tab":       {problem.New(problem.VersionConflict, "old"), "The delivery details have been changed meanwhile."},
		"too often":         {problem.New(problem.RateLimited, "often"), "You have corrected the delivery details too often."},
		"a failure":         {problem.Unavailable(), failed},
		"an unknown answer": {problem.New(problem.CountryChangeNotAllowed, "no"), failed},
	} {
		t.Run(name, func(t *testing.T) {
			f := ordered(t)
			f.correctErr = tc.failure
			got := f.follow(correction("street", "Nygatan 2", "phone", "1"))
			require.Contains(t, got.body, tc.want)
			require.Contains(t, got.body, `value="Nygatan 2"`)
			require.Contains(t, got.body, "Please check: ")
			require.Equal(t, got.body, f.get("?step=correct").body, "a reload shows the same")
		})
	}
	t.Run("text that is not valid", func(t *testing.T) {
		f := ordered(t)
		require.Contains(t, f.follow(correction("street", "\xff")).body, `<a href="#street">`)
		require.Empty(t, f.corrections)
	})
	t.Run("an order that was sent meanwhile", func(t *testing.T) {
		f := ordered(t)
		f.correctErr = problem.New(problem.NotEditable, "sent")
		f.order.Progress, f.order.Gift.CorrectableVersion = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, nil
		require.Contains(t, f.follow(correction("street", "Nygatan 2")).body, "Your gift is on its way")
	})
}

func TestAStrangerCorrectsNothing(t *testing.T) {
	t.Parallel()
	for _, nonce := range []string{"", "AAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		f := ordered(t)
		f.nonce = nonce
		require.Contains(t, f.follow(correction("street", "Nygatan 2")).body, "This gift has already been chosen")
		require.Contains(t, f.follow(correction("street", "\xff")).body, "This gift has already been chosen")
	}
}

// Whoever has typed the address sees it, as long as it is kept and the order is as it was placed.
func TestTheBrowserThatTypedTheAddressSeesIt(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.CorrectableVersion = proto.Int64(0)
	thanks := f.get("").body
	require.Contains(t, thanks, "<bdi>Storgatan 1</bdi>")
	require.Contains(t, thanks, "Astrid Lindqvist")
	require.NotContains(t, thanks, "•••")
	require.NotContains(t, thanks, "Most characters are hidden")
	correct := f.get("?step=correct").body
	require.NotContains(t, correct, "Now: ")
	for _, text := range []string{"Astrid Lindqvist", "Storgatan 1", "111 22", "Visby", "70 123 45 67"} {
		require.Contains(t, correct, `value="`+text+`"`)
	}
	own := f.nonce

	for name, change := range map[string]func(){
		"another browser":                       func() { f.nonce = "" },
		"an order that another one has changed": func() { f.order.Gift.CorrectableVersion = proto.Int64(1) },
		"an order that was sent": func() {
			f.order.Progress, f.order.Gift.CorrectableVersion = linksv1.ClaimProgress_CLAIM_PROGRESS_SENT, nil
		},
		"a draft that has expired": func() { f.drafts = map[string]*linksv1.ClaimDraft{} },
	} {
		before, draft := proto.CloneOf(f.order), proto.CloneOf(f.drafts[own])
		change()
		got := f.get("").body
		require.NotContains(t, got, "Storgatan", name)
		require.NotContains(t, got, "Nygatan", name)
		f.order, f.drafts[own], f.nonce, f.correctErr = before, draft, own, nil
	}
	require.Contains(t, f.get("").body, "Storgatan 1")
}

// The form has what is stored. So who only adds a house number has not to know what else the page sends.
func TestACorrectionSendsWhatWasChanged(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.CorrectableVersion = proto.Int64(0)
	stored := func(changes ...string) url.Values {
		form := filled("step", stepCorrect, "version", "0", "shown", "1", "phone", "70 123 45 67")
		for pair := range slices.Chunk(changes, 2) {
			form.Set(pair[0], pair[1])
		}
		return form
	}
	require.Contains(t, f.follow(stored()).body, "Nothing was changed.")
	require.Contains(t, f.follow(stored("city", "")).body, "Nothing was changed.", "what is empty stays")
	require.Empty(t, f.corrections)

	f.correctErr = problem.Invalid(problem.Violation{Field: "recipient.phone", Code: problem.FieldInvalid})
	refused := f.follow(stored("street", "Storgatan 12", "phone", "1")).body
	for _, value := range []string{"Astrid Lindqvist", "Storgatan 12", "1", "Visby"} {
		require.Contains(t, refused, `value="`+value+`"`)
	}
	require.Contains(t, f.get("").body, "<bdi>Storgatan 1</bdi>", "where it is still sent")

	f.correctErr = problem.New(problem.VersionConflict, "old")
	f.order.Gift.CorrectableVersion = proto.Int64(1)
	conflict := f.follow(stored("street", "Storgatan 12")).body
	require.Contains(t, conflict, `value="Storgatan 12"`)
	require.NotContains(t, conflict, `value="Visby"`, "the order may have another city now")
	f.correctErr = nil
	f.send(stored("street", "Storgatan 12"))
	for _, made := range f.corrections {
		require.Equal(t, "Storgatan 12", made.GetRecipient().GetStreet())
		require.Empty(t, made.GetRecipient().GetName()+made.GetRecipient().GetCity())
	}
}

// A page that has shown the address may be older than another correction, and the draft may be gone that says what it has shown.
func TestAnOldPageTakesBackNoCorrection(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.CorrectableVersion = proto.Int64(0)
	require.Contains(t, f.get("?step=correct").body, `name="shown" value="1"`)
	delete(f.drafts, f.nonce)
	f.correctErr = problem.New(problem.VersionConflict, "old")
	old := filled("step", stepCorrect, "version", "0", "shown", "1", "phone", "70 123 45 67", "street", "Storgatan 12")
	page := f.follow(old)
	require.Len(t, f.corrections, 1)
	require.Contains(t, page.body, "The delivery details have been changed meanwhile.")
	require.NotContains(t, page.body, "Storgatan")
	require.NotContains(t, page.body, `name="shown"`)
	old.Set("city", "\xff")
	page = f.follow(old)
	require.Contains(t, page.body, `<a href="#city">`)
	require.NotContains(t, page.body, "Storgatan")
}

// A player without the script clicks twice, or sends the form again because no answer has come. The first correction has made
// another version of the order, with which the draft is kept.
func TestACorrectionThatIsSentTwiceSucceedsTwice(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.CorrectableVersion = proto.Int64(0)
	form := filled("step", stepCorrect, "version", "0", "shown", "1", "phone", "70 123 45 67", "street", "Storgatan 12")
	for sent := range 2 {
		require.Contains(t, f.follow(form).body, "Your delivery details have been corrected.", sent)
		f.order.Gift.CorrectableVersion = proto.Int64(1)
	}
	require.Len(t, f.corrections, 2)
	require.Equal(t, "Storgatan 12", f.corrections[1].GetRecipient().GetStreet())
	require.Zero(t, f.corrections[1].GetExpectedVersion())
}

func TestACancelledOrderSaysNothingOfADelivery(t *testing.T) {
	t.Parallel()
	f := ordered(t)
	f.order.Gift.CorrectableVersion, f.order.Gift.Carrier = nil, "PostNord"
	f.order.Progress = linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED
	got := f.get("").body
	require.Contains(t, got, "NP-1")
	require.Contains(t, got, "Dark truffles")
	require.Contains(t, got, "This gift was canceled")
	for _, text := range []string{"<ol", "delivery", "Delivery", "St•••", "PostNord"} {
		require.NotContains(t, got, text)
	}

	f.nonce = "" // Another device.
	got = f.get("").body
	require.Contains(t, got, "This gift was canceled")
	require.NotContains(t, got, "everything is fine")
	require.NotContains(t, got, "NP-1")
}
