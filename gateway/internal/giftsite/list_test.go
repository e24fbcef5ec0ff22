package giftsite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func TestAFilteredListNamesTheCategoryAndCountsItsGifts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Categories = []*linksv1.ClaimCategory{{Code: "FOOD", Name: "Food & sweets"}, {Code: "SPORT", Name: "Sport"}}
	for len(f.page.GetGifts()) < manyGifts {
		f.page.Gifts = append(f.page.Gifts, &linksv1.ClaimGift{ProductId: "honey", Name: "Honey", Categories: []string{"FOOD"}})
	}
	f.page.Gifts[1].Categories = []string{"SPORT"}
	require.Contains(t, f.get("?step=choose").body, `<h1 class="ask">Choose the gift you like best.</h1>`)
	require.Contains(t, f.get("?step=choose").body, "<title>All gifts – Nordlys Casino</title>")
	food := f.get("?step=choose&category=FOOD").body
	require.Contains(t, food, `<h1 class="ask">Food &amp; sweets: 10 gifts</h1>`)
	require.Contains(t, food, "<title>Food &amp; sweets: 10 gifts – Nordlys Casino</title>")
	require.Contains(t, food, `data-heading="Sport: 1 gift"`, "for the script")
}

// The first cards are the largest ones of a row.
func TestGiftsThatAreGoneAreLast(t *testing.T) {
	t.Parallel()
	f := setup(t)
	gone := f.page.GetGifts()[2]
	gone.Categories = []string{"HOME"}
	f.page.Gifts = append([]*linksv1.ClaimGift{gone}, f.page.GetGifts()[:2]...)
	require.Regexp(t, `(?s)Dark truffles</h2>.*Sweatshirt</h2>.*None left.*Glass vase</h2>`, f.get("?step=choose").body)
	f.page.Categories = []*linksv1.ClaimCategory{{Code: "FOOD", Name: "Food & sweets"}, {Code: "HOME", Name: "Home"}}
	for len(f.page.GetGifts()) < manyGifts {
		f.page.Gifts = append(f.page.Gifts, &linksv1.ClaimGift{ProductId: "honey", Name: "Honey", Categories: []string{"FOOD"}})
	}
	home := f.get("?step=choose&category=HOME").body
	require.Regexp(t, `(?s)<li class="card gone" data-categories="HOME">.*Glass vase</h2>`, home)
	require.Equal(t, manyGifts-1, strings.Count(home, " hidden>\n<a "), "only the vase is shown")
	require.Equal(t, "vase", f.page.GetGifts()[0].GetProductId(), "the order of the link is kept")
}

func TestTheLetterCanBeReadAgainAndTheChosenGiftIsNamed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.follow(choose("truffles"))
	f.follow(filled())
	list := f.get("?step=choose").body
	require.Contains(t, list, `<a class="resume back" href="?step=review">Go on with: Dark truffles</a>`)
	require.Contains(t, list, `<a class="back" href="?step=letter#main">Read the note again</a>`)
	require.Contains(t, f.get("?step=letter").body, "Five years &amp; counting")
	f.page.Message = nil
	require.NotContains(t, f.get("?step=choose").body, "step=letter", "there is none")
}

// The label of a link that was not claimed for a year is erased. The link stays open.
func TestAGiftWithoutALabelIsForYou(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.page.Label, f.page.Message, f.page.Greeting = "", nil, proto.String("Happy midsummer!")
	pages := map[string]string{"greeting": f.get("").body}
	f.page.Greeting = nil
	pages["list"] = f.get("").body
	f.page.Gifts = f.page.GetGifts()[:1]
	pages["only gift"] = f.get("").body
	for name, page := range pages {
		require.Contains(t, page, "<h1>A gift for you</h1>", name)
		require.NotContains(t, page, "A gift for <", name)
	}
}
