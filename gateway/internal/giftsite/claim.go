package giftsite

import (
	"errors"
	"net/http"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// post takes a form: it shows another step with what was typed so far, or claims the gift.
func (s *Site) post(w http.ResponseWriter, r *http.Request, token string) {
	f, err := readForm(w, r)
	if err != nil {
		s.tell(w, r, statusOfForm(err), stateRefused)
		return
	}
	if f.Step == stepSend && len(f.Unreadable) == 0 {
		s.claim(w, r, token, f)
		return
	}
	link, ok := s.loadOpen(w, r, token)
	if !ok {
		return
	}
	if gift := giftOf(link, f.Gift); f.Step == stepSend && gift != nil {
		t := s.translations.of(link.GetLocale())
		p := s.formView(link, gift, f, unreadable(t, f.Unreadable)).withChoiceFaults(f.Picked)
		s.renderTrouble(w, http.StatusBadRequest, p)
		return
	}
	s.renderOpen(w, link, f)
}

func statusOfForm(err error) int {
	switch {
	case errors.Is(err, errTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errMediaType):
		return http.StatusUnsupportedMediaType
	}
	return http.StatusBadRequest
}

// loadOpen is load for what only an open link has; any other shows its state.
func (s *Site) loadOpen(w http.ResponseWriter, r *http.Request, token string) (*linksv1.GetClaimPageResponse, bool) {
	link, ok := s.load(w, r, token)
	if ok && link.GetState() != linksv1.ClaimState_CLAIM_STATE_OPEN {
		s.seeOther(w, token)
		return nil, false
	}
	return link, ok
}

// claim sends the form on. The service makes sure that a form sent twice places one order.
func (s *Site) claim(w http.ResponseWriter, r *http.Request, token string, f form) {
	claimed, err := s.Links.ClaimLink(r.Context(), f.request(token))
	switch {
	case problem.Is(err, problem.NotFound):
		s.unknown(w, r)
	case err != nil:
		s.refused(w, r, token, f, err)
	default:
		s.remember(w, token, claimed.GetOrderReference())
		s.seeOther(w, token)
	}
}

// seeOther leads to the page of the link as it is now: reloading that claims nothing.
func (s *Site) seeOther(w http.ResponseWriter, token string) {
	w.Header().Set("Location", Prefix+token)
	s.answer(w, http.StatusSeeOther, nil)
}

// refused shows why the gift was not claimed where the player can put it right.
func (s *Site) refused(w http.ResponseWriter, r *http.Request, token string, f form, err error) {
	p, ok := problem.As(err)
	if !ok {
		p = problem.Internal()
	}
	status := problem.Lookup(p.Code).Status
	if status >= http.StatusInternalServerError {
		s.Log.WarnContext(r.Context(), "claim failed", "error", err)
		status = http.StatusServiceUnavailable
		retryAfter(w, p.RetryAfter)
	}
	link, ok := s.loadOpen(w, r, token)
	if !ok {
		return
	}
	s.again(w, status, link, f, p)
}

// again shows the chosen gift with what is to be put right, or all gifts when that one cannot be
// had.
func (s *Site) again(w http.ResponseWriter, status int, link *linksv1.GetClaimPageResponse, f form, p *problem.Error) {
	gift := giftOf(link, f.Gift)
	if gift == nil || p.Code == problem.ProductNotAvailable || p.Code == problem.ProductNotInCampaign {
		s.chooseAgain(w, status, link, f, p.Code)
		return
	}
	t := s.translations.of(link.GetLocale())
	view := s.formView(link, gift, f, t.faults(p))
	if status < http.StatusInternalServerError {
		view = view.withChoiceFaults(f.Picked)
	}
	if len(view.Problems) == 0 && p.Code == problem.OutOfStock && !view.Alone {
		s.chooseAgain(w, status, link, f, p.Code)
		return
	}
	if len(view.Problems) == 0 { // The choice that could not be had can be had again.
		view.Problems = []fault{{Text: t.T("problem.again")}}
	}
	s.renderTrouble(w, status, view)
}

func (s *Site) renderTrouble(w http.ResponseWriter, status int, p formView) {
	p.Trouble = true
	s.render(w, status, pageForm, p)
}

// faults words the problem of a claim.
func (t *texts) faults(p *problem.Error) []fault {
	switch p.Code {
	case problem.InvalidRequest:
		return fieldFaults(t, p.Violations)
	case problem.OutOfStock, problem.InvalidVariations:
		return nil // The choice itself says what is wrong with it.
	case problem.NotDeliverableToCountry:
		return []fault{{Field: fieldCountry, Text: t.T("error.country.undeliverable"), Href: "#" + fieldCountry}}
	case problem.IdempotencyInProgress:
		return []fault{{Text: t.T("problem.busy")}}
	default:
		return []fault{{Text: t.T("problem.again")}}
	}
}

// chooseAgain lists the gifts, because the chosen one cannot be had.
func (s *Site) chooseAgain(w http.ResponseWriter, status int, link *linksv1.GetClaimPageResponse, f form, why problem.Code) {
	view := s.listView(link, f)
	view.Message, view.Trouble = "", true // The message was read before.
	view.Problem = view.T("problem.unavailable")
	for _, c := range view.Cards {
		if c.ID == f.Gift && (c.Gone || why == problem.OutOfStock) {
			view.Problem = view.T("problem.gone", "gift", c.Name)
		}
	}
	s.render(w, status, pageList, view)
}
