package giftsite

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/partnergifting/platform/gateway/internal/limits"
)

// tokenForm is wider than the tokens that are made now: what does not look like one costs no call.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// admit runs the checks that need no link and gives the request's token. When it is refused the
// answer is given already.
func (s *Site) admit(w http.ResponseWriter, r *http.Request) (token string, ok bool) {
	limiter := s.Visits
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		limiter = s.Claims
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		s.tell(w, r, http.StatusMethodNotAllowed, stateRefused)
		return "", false
	}
	ip := s.ClientIP(r)
	verdict := limiter.TakeIP(r.Context(), ip)
	if verdict.Allowed {
		var exhausted bool
		verdict, exhausted = s.Unknown.Exhausted(ip)
		verdict.Allowed = !exhausted
	}
	if !verdict.Allowed {
		s.limited(w, r, verdict)
		return "", false
	}
	token = r.URL.Path[len(Prefix):]
	switch {
	case !tokenForm.MatchString(token):
		s.unknown(w, r)
		return "", false
	case r.Method == http.MethodPost && s.fromElsewhere(r):
		s.tell(w, r, http.StatusForbidden, stateRefused)
		return "", false
	}
	return token, true
}

// fromElsewhere says whether another site's page sent the form. There is no login another site
// could abuse: only who knows the token can claim, and needs no player's browser for it. So the
// browser's own word is enough, and needs neither a cookie nor a secret in the form, which a player
// who blocks cookies or returns to an old tab would fail on.
//
// A browser that sends no Sec-Fetch-Site sends Origin: null here, because of the pages' own
// Referrer-Policy. It must be let in, or it could claim nothing.
func (s *Site) fromElsewhere(r *http.Request) bool {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "null" {
		return false
	}
	return s.guard.Check(r) != nil
}

// unknown answers a token that names no link, and counts it.
func (s *Site) unknown(w http.ResponseWriter, r *http.Request) {
	if verdict := s.Unknown.Take(s.ClientIP(r)); !verdict.Allowed {
		s.limited(w, r, verdict)
		return
	}
	s.tell(w, r, http.StatusNotFound, stateUnknown)
}

func (s *Site) limited(w http.ResponseWriter, r *http.Request, v limits.Verdict) {
	retryAfter(w, v.Reset)
	s.tell(w, r, http.StatusTooManyRequests, stateLimited)
}

func retryAfter(w http.ResponseWriter, d time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(max(d, time.Second).Seconds()))))
}
