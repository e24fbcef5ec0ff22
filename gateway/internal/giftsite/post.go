package giftsite

import (
	"errors"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// post handles a form. It stores what was entered and what is wrong with it, and redirects, so that neither Back nor Reload sends
// the form again. A body that is no form of these pages is refused without a redirect, because nothing of it is kept.
func (s *Site) post(v *visit) {
	f, err := readForm(v.w, v.r)
	if err != nil {
		s.renderMessage(v.w, v.r, formStatus(err), stateRefused)
		return
	}
	switch f.Step {
	case stepGift, stepInitials:
		s.postGift(v, f)
	case stepCountry, stepBack, stepAddress:
		s.postAddress(v, f)
	case stepReview:
		s.postReview(v, f)
	case stepCorrect:
		s.postCorrection(v, f)
	case stepThanks:
		s.postThanks(v, f)
	case stepReopen:
		s.postReopening(v, f)
	default: // Of another version of the pages.
		s.redirect(v, "")
	}
}

func formStatus(err error) int {
	switch {
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errMediaType):
		return http.StatusUnsupportedMediaType
	}
	return http.StatusBadRequest
}

// loadInState reads the link of a form. On failure, or if the link is in another state, which the first page shows, it sends the
// response.
func (s *Site) loadInState(v *visit, state linksv1.ClaimState) (ok bool) {
	if v.link, ok = s.load(v.w, v.r, v.token); !ok {
		return false
	}
	if v.link.GetState() == state {
		return true
	}
	if state == linksv1.ClaimState_CLAIM_STATE_OPEN {
		s.redirect(v, stepUnchanged, queryKept, "1")
	} else {
		s.redirect(v, "")
	}
	return false
}

// postGift stores the chosen gift.
func (s *Site) postGift(v *visit, f form) {
	if !s.loadInState(v, linksv1.ClaimState_CLAIM_STATE_OPEN) {
		return
	}
	gift := giftOf(v.link, f.Gift)
	if gift == nil || gift.GetProductId() != f.Gift {
		if s.saveDraft(v, &linksv1.SaveClaimDraftRequest{Answer: &linksv1.ClaimAnswer{Code: string(problem.ProductNotAvailable)}}) {
			s.redirect(v, stepChoose)
		}
		return
	}
	req := &linksv1.SaveClaimDraftRequest{Gift: &linksv1.ClaimChoiceOfGift{ProductId: f.Gift, Variations: knownValues(gift, f.Picked)}}
	if gift.GetTakesInitials() {
		req.Gift.Initials = f.Initials
	}
	if !isChosen(gift, f.Picked) {
		req.Answer = &linksv1.ClaimAnswer{Code: string(problem.InvalidVariations)}
	}
	if s.saveDraft(v, req) {
		s.redirectTo(v, nextStep(v.link, v.draft))
	}
}

// knownValues are the picked values that the gift has. So a draft has only words of the catalog.
func knownValues(gift *linksv1.ClaimGift, picked map[string]string) map[string]string {
	known := map[string]string{}
	for _, d := range gift.GetVariations() {
		for _, value := range d.GetValues() {
			if picked[d.GetDimension()] == value {
				known[d.GetDimension()] = value
			}
		}
	}
	return known
}

// postAddress stores the address, and has it checked if the player goes on. Otherwise what the form has no input for stays.
func (s *Site) postAddress(v *visit, f form) {
	if !s.loadInState(v, linksv1.ClaimState_CLAIM_STATE_OPEN) { // A draft of a claimed link would be a correction.
		return
	}
	if f.Step != stepAddress {
		if !s.loadDraft(v) {
			return
		}
		for name, text := range enteredIn(v.draft.GetRecipient()) {
			if _, sent := f.Entered[name]; !sent {
				f.Entered[name] = text
			}
		}
	}
	req := &linksv1.SaveClaimDraftRequest{Recipient: f.recipient(), CheckRecipient: f.Step == stepAddress}
	switch {
	case len(f.InvalidText) > 0:
		req.CheckRecipient, req.Answer = false, violations(problem.FieldInvalid, f.InvalidText...)
	case f.Step == stepCountry && f.Entered[fieldCountry] == "":
		req.Answer = violations(problem.FieldRequired, fieldCountry)
	case req.GetCheckRecipient():
		req.Answer = checkSecondParts(req.GetRecipient())
	}
	if !s.saveDraft(v, req) {
		return
	}
	switch {
	case f.Step == stepBack:
		s.redirectTo(v, stepGift)
	case f.Step == stepCountry:
		s.redirect(v, stepAddress)
	case hasErrorAt(v.draft.GetAnswer(), fieldInitials): // The page of the gift has their input.
		s.redirectTo(v, stepGift)
	case v.draft.GetAnswer() != nil:
		s.redirect(v, stepAddress)
	default:
		s.redirect(v, stepReview)
	}
}

// violations is an answer with an error at some inputs.
func violations(code string, fields ...string) *linksv1.ClaimAnswer {
	var found []problem.Violation
	for _, field := range fields {
		found = append(found, problem.Violation{Field: recipientPath + field, Code: code})
	}
	return answerOf(problem.InvalidRequest, found)
}

// postReview claims the gift that the player has reviewed. The service ensures that a form sent any number of times places one
// order, and that its browser sees the order.
func (s *Site) postReview(v *visit, f form) {
	if !s.loadDraft(v) {
		return
	}
	switch {
	case v.draft.GetVersion() == 0: // The draft of a claimed link is gone, too.
		s.redirectUnused(v)
		return
	case f.Version != v.draft.GetVersion():
		s.saveError(v, problem.New(problem.VersionConflict, "the draft was changed since its review"), stepReview)
		return
	case checkSecondParts(v.draft.GetRecipient()) != nil: // Another gift was chosen meanwhile, and that forgot the error.
		s.redirect(v, stepReview)
		return
	}
	claimed, err := s.Links.ClaimLink(v.r.Context(), &linksv1.ClaimLinkRequest{
		Token: v.token, FormNonce: proto.String(v.nonce), ProductId: v.draft.GetGift().GetProductId(),
		Variations: v.draft.GetGift().GetVariations(), Recipient: asClaimed(v.draft.GetRecipient()),
		Initials: unlessEmpty(v.draft.GetGift().GetInitials()), // Personal-links of release 1.0.0 refuses the field.
	})
	if err != nil {
		s.saveError(v, err, stepReview)
		return
	}
	if claimed.OrderReference == nil { // Another device was first.
		s.redirectUnused(v)
		return
	}
	s.redirect(v, "")
}

// saveError stores an error in the draft and redirects to the page that shows it.
func (s *Site) saveError(v *visit, err error, step string) {
	s.saveFormError(v, &linksv1.SaveClaimDraftRequest{}, err, step)
}

// saveFormError also stores what the form has sent.
func (s *Site) saveFormError(v *visit, req *linksv1.SaveClaimDraftRequest, err error, step string) {
	if problem.Is(err, problem.NotFound) {
		s.redirect(v, "")
		return
	}
	p := s.shownProblem(v, err)
	req.Answer = answerOf(p.Code, p.Violations)
	if s.saveDraft(v, req) {
		s.redirect(v, step)
	}
}

// shownProblem is the error of a form as its page shows it.
func (s *Site) shownProblem(v *visit, err error) *problem.Error {
	httperror.AbortIfCallerLeft(v.r.Context(), err)
	p, ok := problem.As(err)
	if !ok || problem.Lookup(p.Code).Status >= http.StatusInternalServerError {
		s.Log.WarnContext(v.r.Context(), "form failed", "error", err)
		p = problem.Unavailable()
	}
	return p
}

// maxViolations is how many violations of an answer are kept. There are fewer inputs.
const maxViolations = 50

// answerOf is what a draft keeps of a problem.
func answerOf(code problem.Code, violations []problem.Violation) *linksv1.ClaimAnswer {
	answer := &linksv1.ClaimAnswer{Code: string(code)}
	for _, v := range violations[:min(len(violations), maxViolations)] {
		answer.Violations = append(answer.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code})
	}
	return answer
}
