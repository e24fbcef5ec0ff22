package giftsite

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// fieldThanks is the input of a player's word of thanks.
const fieldThanks = "word"

var thanksInput = input{
	ID: fieldThanks, LabelKey: fieldThanks, MaxLength: fields.MaxLength(&ordersv1.ThankForClaimedOrderRequest{}, "text"),
	Autocomplete: "off", Lines: true,
}

// addThanks adds what the player has written to the brand, or the form to write it.
func (p *orderView) addThanks(gift *linksv1.ClaimedGift, withoutThanks bool, refused refusedText) {
	p.Thanks = gift.GetThanks()
	if !gift.GetAcceptsThanks() || withoutThanks {
		return
	}
	f := p.refusedField(thanksInput, refused, "problem.word")
	f.Hint = p.T("word.hint", "n", strconv.Itoa(thanksInput.MaxLength))
	p.ThanksField = &f
}

// postThanks sends a word of thanks to the brand. What is refused is shown at once, without a redirect: it is kept nowhere else.
func (s *Site) postThanks(v *visit, f form) {
	if !s.loadInState(v, linksv1.ClaimState_CLAIM_STATE_CLAIMED) {
		return
	}
	if v.nonce == "" {
		s.redirect(v, "")
		return
	}
	_, err := s.Links.ThankForClaimedGift(v.r.Context(), &linksv1.ThankForClaimedGiftRequest{
		Token: v.token, FormNonce: v.nonce, Text: f.Thanks,
	})
	switch {
	case err == nil:
		s.redirect(v, stepThanked)
	case problem.Is(err, problem.NotFound), problem.Is(err, problem.NotEditable): // The first page shows why.
		s.redirect(v, "")
	default:
		v.refused = refusedText{Text: f.Thanks, Why: s.shownProblem(v, err)}
		s.getClaimed(v)
	}
}

// complaintHref is the brand's support link with the reference of the order; empty: the brand has none. The reference is no
// personal data.
func (t *texts) complaintHref(support, reference string) string {
	u, err := url.Parse(support)
	if support == "" || err != nil {
		return ""
	}
	name, value := "reference", reference
	if u.Scheme == "mailto" {
		name, value = "subject", t.T("wrong.link")+": "+reference
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += name + "=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20") // Mail programs show a plus sign.
	return u.String()
}
