package giftsite

import (
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// fieldDigits is the input for the last digits of the phone number, with which a player reopens a claimed gift.
const fieldDigits = "digits"

var digitsInput = input{ID: fieldDigits, LabelKey: fieldDigits, MaxLength: 4, Type: "tel", Autocomplete: "off", Short: true}

// wrongDigits is the code of digits that are not those of the phone number.
const wrongDigits = "wrong"

// addReopening adds the form with which the player sees the order in a browser that has not claimed it.
func (p *orderView) addReopening(refused refusedText) {
	key := "problem.reopen"
	if refused.Why != nil && p.Has(key+"."+string(refused.Why.Code)) {
		key += "." + string(refused.Why.Code)
	}
	f := p.refusedField(digitsInput, refused, key)
	f.Hint = p.T("reopen.hint")
	p.DigitsField = &f
}

// postReopening lets the browser see the order if the digits are those of the phone number. What is refused is shown at once: it is
// kept nowhere.
func (s *Site) postReopening(v *visit, f form) {
	if !s.loadIn(v, linksv1.ClaimState_CLAIM_STATE_CLAIMED) {
		return
	}
	if v.nonce == "" {
		v.nonce = newNonce()
	}
	resp, err := s.Links.ReopenClaimedGift(v.r.Context(), &linksv1.ReopenClaimedGiftRequest{
		Token: v.token, FormNonce: v.nonce, PhoneDigits: f.Digits,
	})
	switch {
	case problem.Is(err, problem.NotFound): // The first page shows why.
		s.redirect(v, "")
		return
	case err == nil && resp.GetReopened():
		s.keepNonce(v, orderLifetime)
		s.redirect(v, "")
		return
	case err == nil:
		v.refused.Why = problem.Invalid(problem.Violation{Field: fieldDigits, Code: wrongDigits})
	default:
		v.refused.Why = s.shownProblem(v, err)
	}
	v.refused.Text = f.Digits
	s.getClaimed(v)
}
