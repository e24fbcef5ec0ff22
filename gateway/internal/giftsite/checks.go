package giftsite

import (
	"net/http"
	"regexp"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/limits"
)

// tokenForm accepts more than the current form of tokens. Other paths cause no call of a service.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// check runs the checks that need no link, and returns the token of the request. If one fails, it sends the response.
func (s *Site) check(w http.ResponseWriter, r *http.Request) (token string, ok bool) {
	limiter := s.Visits
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		limiter = s.Claims
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		s.renderMessage(w, r, http.StatusMethodNotAllowed, stateRefused)
		return "", false
	}
	token = r.URL.Path[len(Prefix):]
	if !s.admit(w, r, limiter, token) {
		return "", false
	}
	switch {
	case !tokenForm.MatchString(token):
		s.unknownToken(w, r, token)
		return "", false
	case r.Method == http.MethodPost && s.isCrossSite(r):
		s.renderMessage(w, r, http.StatusForbidden, stateRefused)
		return "", false
	}
	return token, true
}

// admit counts the request against the limits of its address. If one is used up, it sends the response. An address that has
// tried too many unknown tokens may still use valid ones. Its other requests do not count as visits or claims, so they cannot
// use up those limits either.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, limiter *limits.Limiter, token string) bool {
	ip := s.ClientIP(r)
	verdict, limited := s.Unknown.Exhausted(ip)
	if limited && (!tokenForm.MatchString(token) || !s.lookups.valid(r.Context(), ip, token)) {
		s.rateLimited(w, r, verdict)
		return false
	}
	if verdict := limiter.TakeIP(r.Context(), ip); !verdict.Allowed {
		s.rateLimited(w, r, verdict)
		return false
	}
	return true
}

// isCrossSite reports whether a page of another site sent the form. There is no login that another site could abuse: whoever
// knows the token can claim the gift without the player's browser. So the headers of the browser are enough. A cookie or a
// secret in the form would fail for players who block cookies or return to an old tab.
//
// A browser without Sec-Fetch-Site sends Origin: null here, because of the Referrer-Policy of the pages. It is accepted:
// otherwise it could not claim anything.
func (s *Site) isCrossSite(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "null" {
		return false
	}
	return s.crossOrigin.Check(r) != nil
}

// unknownToken counts a token without a link and sends the response.
func (s *Site) unknownToken(w http.ResponseWriter, r *http.Request, token string) {
	s.lookups.forget(token)
	if verdict := s.Unknown.Take(s.ClientIP(r)); !verdict.Allowed {
		s.rateLimited(w, r, verdict)
		return
	}
	s.renderMessage(w, r, http.StatusNotFound, stateUnknown)
}

func (s *Site) rateLimited(w http.ResponseWriter, r *http.Request, v limits.Verdict) {
	httperror.SetRetryAfter(w.Header(), max(v.Reset, time.Second))
	s.renderMessage(w, r, http.StatusTooManyRequests, stateLimited)
}
