package giftsite

import (
	"net/http"
	"regexp"
	"time"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// The pages that only tell something.
const (
	stateThanks  = "thanks"
	stateClaimed = "claimed"
	stateExpired = "expired"
	stateWaiting = "waiting"
	stateUnknown = "unknown"
	stateFailing = "failing"
	stateLimited = "limited"
	stateRefused = "refused"
)

// renderState shows a link at which nothing can be chosen.
func (s *Site) renderState(w http.ResponseWriter, r *http.Request, link *linksv1.GetClaimPageResponse) {
	v := stateView{view: s.linkView(link)}
	status := http.StatusOK
	switch link.GetState() {
	case linksv1.ClaimState_CLAIM_STATE_CLAIMED:
		v.State = stateClaimed
		if v.Reference = remembered(r); v.Reference != "" {
			v.State = stateThanks
		}
	case linksv1.ClaimState_CLAIM_STATE_WAITING:
		v.State = stateWaiting
	case linksv1.ClaimState_CLAIM_STATE_EXPIRED:
		v.State, status = stateExpired, http.StatusGone
	default: // A state this gateway does not know yet.
		v.State, v.Retry, status = stateFailing, true, http.StatusServiceUnavailable
	}
	s.renderTitled(w, status, v)
}

// tell answers without a link, in the language the browser asks for.
func (s *Site) tell(w http.ResponseWriter, r *http.Request, status int, state string) {
	v := stateView{view: newView(s.translations.accepted(r.Header.Get("Accept-Language"))), State: state}
	v.Retry = state == stateFailing || state == stateLimited
	if state == stateFailing {
		v.RequestID = w.Header().Get("Request-Id")
	}
	s.renderTitled(w, status, v)
}

func (s *Site) renderTitled(w http.ResponseWriter, status int, v stateView) {
	v.Title = v.T(v.State + ".heading")
	if v.Brand != "" {
		v.Title += " – " + v.Brand
	}
	s.render(w, status, pageState, v)
}

const failingPause = 30 * time.Second

// failing answers while the service behind the links does not.
func (s *Site) failing(w http.ResponseWriter, r *http.Request, err error) {
	s.Log.WarnContext(r.Context(), "gift page failed", "error", err)
	retryAfter(w, failingPause)
	s.tell(w, r, http.StatusServiceUnavailable, stateFailing)
}

const (
	referenceCookie = "gift_order"
	referenceKept   = time.Hour
)

var referenceForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// remember keeps the order's reference in the browser that placed it, for the page that follows.
// It is told nowhere else: the link itself may be in more hands.
func (s *Site) remember(w http.ResponseWriter, token, reference string) {
	if !referenceForm.MatchString(reference) {
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the site is reached by https.
		Name: referenceCookie, Value: reference, Path: Prefix + token, MaxAge: int(referenceKept.Seconds()),
		HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteStrictMode,
	})
}

func remembered(r *http.Request) string {
	cookie, err := r.Cookie(referenceCookie)
	if err != nil || !referenceForm.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
}
