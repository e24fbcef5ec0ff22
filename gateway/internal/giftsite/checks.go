package giftsite

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// tokenForm accepts more than the current form of tokens. Other paths cause no call of a service.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// behindAddress are characters behind an address that mail programs take for a part of it.
const behindAddress = " /.,;:!?)]}>'\"*’”»"

// check runs the checks of all requests, and returns the token of the request. If one fails, it sends the response. The page is
// nil unless a check has read it.
func (s *Site) check(w http.ResponseWriter, r *http.Request) (token string, page *linksv1.GetClaimPageResponse, ok bool) {
	limits := s.Visits
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		limits = s.Claims
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		s.renderMessage(w, r, http.StatusMethodNotAllowed, stateRefused)
		return "", nil, false
	}
	token = r.URL.Path[len(Prefix):]
	switch whole := strings.TrimRight(token, behindAddress); {
	case whole != token && r.Method != http.MethodPost && tokenForm.MatchString(whole):
		w.Header().Set("Location", Prefix+whole)
		s.write(w, http.StatusMovedPermanently, nil)
		return "", nil, false
	case !tokenForm.MatchString(token):
		s.unknownToken(w, r, token)
		return "", nil, false
	case r.Method == http.MethodPost && s.isCrossSite(r):
		s.renderMessage(w, r, http.StatusForbidden, stateRefused)
		return "", nil, false
	}
	page, ok = s.admit(w, r, limits, token)
	return token, page, ok
}

// admit finds the link and counts the request against the limits. If it is refused, admit sends the response. Only requests with
// valid tokens count, and those of one link use up a part of the limit of the address: players may share it with an abuser.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, limits Limits, token string) (*linksv1.GetClaimPageResponse, bool) {
	ip := s.ClientIP(r)
	page, wait, err := s.lookups.find(r.Context(), ip, token)
	switch {
	case wait > 0:
		s.rateLimited(w, r, wait)
	case problem.Is(err, problem.NotFound):
		s.unknownToken(w, r, token)
	case err != nil:
		s.unavailable(w, r, err)
	default:
		hash := hashToken(token)
		verdict := limits.Link.Take(ip + " " + string(hash[:]))
		if verdict.Allowed {
			verdict = limits.Address.TakeIP(r.Context(), ip)
		}
		if !verdict.Allowed {
			s.rateLimited(w, r, verdict.Reset)
		}
		return page, verdict.Allowed
	}
	return nil, false
}

// isCrossSite reports whether a page of another site sent the form. The headers of the browser are enough to tell: another site
// would need the token, and with the token anyone can claim the gift without the player's browser. A secret in the form would fail
// for players who return to an old tab.
//
// A browser without Sec-Fetch-Site sends Origin: null here, because of the Referrer-Policy of the pages. It is accepted:
// otherwise it could not claim anything.
func (s *Site) isCrossSite(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "null" {
		return false
	}
	return s.crossOrigin.Check(r) != nil
}

// unknownToken sends the response to a token without a link.
func (s *Site) unknownToken(w http.ResponseWriter, r *http.Request, token string) {
	s.lookups.forget(token)
	s.renderMessage(w, r, http.StatusNotFound, stateUnknown)
}

func (s *Site) rateLimited(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	httperror.SetRetryAfter(w.Header(), max(wait, time.Second))
	s.renderMessage(w, r, http.StatusTooManyRequests, stateLimited)
}
