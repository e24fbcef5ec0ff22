package giftsite

import (
	"net/http"
	"regexp"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// The pages that show only a message.
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

// renderState shows the state of a link that is not open.
func (s *Site) renderState(w http.ResponseWriter, r *http.Request, link *linksv1.GetClaimPageResponse) {
	v := messageView{view: s.linkView(link)}
	status := http.StatusOK
	switch link.GetState() {
	case linksv1.ClaimState_CLAIM_STATE_CLAIMED:
		v.State = stateClaimed
		if v.Reference = referenceFrom(r); v.Reference != "" {
			v.State = stateThanks
		}
	case linksv1.ClaimState_CLAIM_STATE_WAITING:
		v.State = stateWaiting
	case linksv1.ClaimState_CLAIM_STATE_EXPIRED:
		v.State, status = stateExpired, http.StatusGone
	default: // A state that this gateway does not know yet.
		v.State, v.Retry, status = stateFailing, true, http.StatusServiceUnavailable
	}
	s.renderTitled(w, status, v)
}

// renderMessage shows a message without a link, in the language of the browser.
func (s *Site) renderMessage(w http.ResponseWriter, r *http.Request, status int, state string) {
	v := messageView{view: newView(s.translations.accepted(r.Header.Get("Accept-Language"))), State: state}
	v.Retry = state == stateFailing || state == stateLimited
	if state == stateFailing {
		v.RequestID = w.Header().Get("Request-Id")
	}
	s.renderTitled(w, status, v)
}

func (s *Site) renderTitled(w http.ResponseWriter, status int, v messageView) {
	v.Title = v.T(v.State + ".heading")
	if v.Brand != "" {
		v.Title += " – " + v.Brand
	}
	s.render(w, status, pageState, v)
}

const (
	minRetryAfter         = time.Second
	unavailableRetryAfter = 30 * time.Second
)

// unavailable answers a request while the service of the links is unavailable.
func (s *Site) unavailable(w http.ResponseWriter, r *http.Request, err error) {
	s.Log.WarnContext(r.Context(), "gift page failed", "error", err)
	httperror.SetRetryAfter(w.Header(), unavailableRetryAfter)
	s.renderMessage(w, r, http.StatusServiceUnavailable, stateFailing)
}

const (
	referenceCookie   = "gift_order"
	referenceLifetime = time.Hour
)

var referenceForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// setReferenceCookie stores the reference of the order in the browser that placed it, for the next page. It is shown nowhere
// else, because others may have the link too.
func (s *Site) setReferenceCookie(w http.ResponseWriter, token, reference string) {
	if !referenceForm.MatchString(reference) {
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure wherever the site is reached by HTTPS.
		Name: referenceCookie, Value: reference, Path: Prefix + token, MaxAge: int(referenceLifetime.Seconds()),
		HttpOnly: true, Secure: s.https, SameSite: http.SameSiteStrictMode,
	})
}

func referenceFrom(r *http.Request) string {
	cookie, err := r.Cookie(referenceCookie)
	if err != nil || !referenceForm.MatchString(cookie.Value) {
		return ""
	}
	return cookie.Value
}
