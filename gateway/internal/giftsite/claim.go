package giftsite

import (
	"errors"
	"net/http"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// post handles a form: it shows another step with what was entered so far, or claims the gift.
func (s *Site) post(w http.ResponseWriter, r *http.Request, token string) {
	f, err := readForm(w, r)
	if err != nil {
		s.renderMessage(w, r, formStatus(err), stateRefused)
		return
	}
	if f.Step == stepSend && len(f.InvalidText) == 0 {
		s.claim(w, r, token, f)
		return
	}
	link, ok := s.loadOpen(w, r, token)
	if !ok {
		return
	}
	if gift := giftOf(link, f.Gift); f.Step == stepSend && gift != nil {
		t := s.translations.of(link.GetLocale())
		s.renderErrors(w, http.StatusBadRequest, s.formView(link, gift, f, t.invalidText(f.InvalidText)).withChoiceErrors(f.Picked))
		return
	}
	s.renderOpen(w, link, f)
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

// loadOpen loads a link that must be open. For other links it redirects to the page of their state.
func (s *Site) loadOpen(w http.ResponseWriter, r *http.Request, token string) (*linksv1.GetClaimPageResponse, bool) {
	link, ok := s.load(w, r, token)
	if ok && link.GetState() != linksv1.ClaimState_CLAIM_STATE_OPEN {
		s.redirect(w, token)
		return nil, false
	}
	return link, ok
}

// claim claims the gift. The service ensures that a form sent twice places only one order, and gets its reference both times.
func (s *Site) claim(w http.ResponseWriter, r *http.Request, token string, f form) {
	claimed, err := s.Links.ClaimLink(r.Context(), f.request(token))
	switch {
	case problem.Is(err, problem.NotFound):
		s.unknownToken(w, r, token)
	case err != nil:
		s.claimFailed(w, r, token, f, err)
	default:
		s.setReferenceCookie(w, token, claimed.GetOrderReference())
		s.redirect(w, token)
	}
}

// redirect redirects to the current page of the link, whose reload claims nothing.
func (s *Site) redirect(w http.ResponseWriter, token string) {
	w.Header().Set("Location", Prefix+token)
	s.write(w, http.StatusSeeOther, nil)
}

// claimFailed shows why the gift was not claimed, at the place where the player can correct it.
func (s *Site) claimFailed(w http.ResponseWriter, r *http.Request, token string, f form, err error) {
	p, ok := problem.As(err)
	if !ok {
		p = problem.Internal()
	}
	status := problem.Lookup(p.Code).Status
	if status >= http.StatusInternalServerError {
		s.Log.WarnContext(r.Context(), "claim failed", "error", err)
		status = http.StatusServiceUnavailable
		httperror.SetRetryAfter(w.Header(), max(p.RetryAfter, minRetryAfter))
	}
	link, ok := s.load(w, r, token)
	switch {
	case !ok:
	case link.GetState() == linksv1.ClaimState_CLAIM_STATE_OPEN:
		s.renderFailure(w, status, link, f, p)
	default:
		s.closed(w, r, token, f)
	}
}

// closed redirects to the page of a link that has ended. Perhaps this form has claimed it and only the answer was lost. To claim
// an ended link again changes nothing and returns the reference.
func (s *Site) closed(w http.ResponseWriter, r *http.Request, token string, f form) {
	claimed, err := s.Links.ClaimLink(r.Context(), f.request(token))
	if err != nil {
		s.Log.WarnContext(r.Context(), "cannot read the outcome of a claim", "error", err)
	}
	s.setReferenceCookie(w, token, claimed.GetOrderReference())
	w.Header().Del("Retry-After")
	s.redirect(w, token)
}

// renderFailure shows the chosen gift with the errors, or all gifts if the chosen one is not available.
func (s *Site) renderFailure(w http.ResponseWriter, status int, link *linksv1.GetClaimPageResponse, f form, p *problem.Error) {
	gift := giftOf(link, f.Gift)
	if gift == nil || p.Code == problem.ProductNotAvailable || p.Code == problem.ProductNotInCampaign {
		s.renderOtherGifts(w, status, link, f, p.Code)
		return
	}
	t := s.translations.of(link.GetLocale())
	view := s.formView(link, gift, f, t.claimErrors(p))
	if status < http.StatusInternalServerError {
		view = view.withChoiceErrors(f.Picked)
	}
	if len(view.Errors) == 0 && p.Code == problem.OutOfStock && !view.OnlyGift {
		s.renderOtherGifts(w, status, link, f, p.Code)
		return
	}
	if len(view.Errors) == 0 { // The choice is available again.
		view.Errors = []formError{{Text: t.T("problem.again")}}
	}
	s.renderErrors(w, status, view)
}

func (s *Site) renderErrors(w http.ResponseWriter, status int, p formView) {
	p.Failed = true
	s.render(w, status, pageForm, p)
}

// claimErrors translates the error of a claim.
func (t *texts) claimErrors(p *problem.Error) []formError {
	switch p.Code {
	case problem.InvalidRequest:
		return t.formErrors(p.Violations)
	case problem.OutOfStock, problem.InvalidVariations:
		return nil // The choice itself shows the error.
	case problem.NotDeliverableToCountry:
		return []formError{{Field: fieldCountry, Text: t.T("error.country.undeliverable"), Href: "#" + fieldCountry}}
	case problem.IdempotencyInProgress:
		return []formError{{Text: t.T("problem.busy")}}
	default:
		return []formError{{Text: t.T("problem.again")}}
	}
}

// renderOtherGifts lists the gifts, because the chosen one is not available.
func (s *Site) renderOtherGifts(w http.ResponseWriter, status int, link *linksv1.GetClaimPageResponse, f form, why problem.Code) {
	view := s.listView(link, f)
	view.Message, view.Failed = "", true // The player has already seen the message.
	view.Problem = view.T("problem.unavailable")
	for _, c := range view.Cards {
		if c.ID == f.Gift && (c.Gone || why == problem.OutOfStock) {
			view.Problem = view.T("problem.gone", "gift", c.Name)
		}
	}
	s.render(w, status, pageList, view)
}
