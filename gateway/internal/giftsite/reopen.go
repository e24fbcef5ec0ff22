package giftsite

import (
	"math"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// fieldDigits is the input for the last digits of the phone number, with which a player reopens a claimed gift.
const fieldDigits = "digits"

var digitsInput = input{ID: fieldDigits, LabelKey: fieldDigits, MaxLength: 4, Type: "tel", Autocomplete: "off", Short: true}

// lastDigits are the last four digits of a phone number. Fewer or other characters stay as they are, so that they are refused.
func lastDigits(typed string) string {
	digits := strings.Map(func(r rune) rune {
		if r = phone.ASCII(r); strings.ContainsRune(" +-()./", r) {
			return -1
		}
		return r
	}, text(typed))
	if strings.Trim(digits, "0123456789") == "" {
		return digits[max(0, len(digits)-digitsInput.MaxLength):]
	}
	return digits
}

// tries says when the next try is, or that few are left; empty: there is nothing to say.
func (t *texts) tries(left int, pause time.Duration) string {
	const few = 2
	switch {
	case pause > 0:
		return " " + t.N("reopen.pause", int(math.Ceil(pause.Hours())))
	case left > 0 && left <= few:
		return " " + t.N("reopen.left", left)
	}
	return ""
}

// wrongDigits is the code of digits that are not those of the phone number.
const wrongDigits = "wrong"

// addReopening adds the form with which the player sees the order in a browser that has not claimed it.
func (p *orderView) addReopening(refused refusedText) {
	key := "problem.reopen"
	if refused.Why != nil && p.Has(key+"."+string(refused.Why.Code)) {
		key += "." + string(refused.Why.Code)
	}
	f := p.refusedField(digitsInput, refused, key)
	if refused.Why != nil && p.Problem != "" {
		p.Problem += p.tries(0, refused.Why.RetryAfter)
	}
	if f.Error != "" {
		f.Error += p.tries(refused.TriesLeft, refused.Pause)
	}
	f.Hint = p.T("reopen.hint")
	p.DigitsField = &f
}

// postReopening lets the browser see the order if the digits are those of the phone number. What is refused is shown at once: it is
// kept nowhere.
func (s *Site) postReopening(v *visit, f form) {
	if !s.loadInState(v, linksv1.ClaimState_CLAIM_STATE_CLAIMED) {
		return
	}
	if v.nonce == "" {
		v.nonce, v.newForm = newNonce(), true
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
		s.redirect(v, stepReopen)
		return
	case err == nil:
		v.refused.Why = problem.Invalid(problem.Violation{Field: fieldDigits, Code: wrongDigits})
		v.refused.TriesLeft, v.refused.Pause = int(resp.GetTriesLeft()), resp.GetPause().AsDuration()
	default:
		v.refused.Why = s.shownProblem(v, err)
	}
	v.refused.Text = f.Digits
	s.getClaimed(v)
}
