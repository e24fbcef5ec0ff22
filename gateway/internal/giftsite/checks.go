package giftsite

import (
	"context"
	"crypto/sha256"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

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
// valid tokens count. Those of one link use up only a part of the limit of the address, which players may share with an abuser.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, limits Limits, token string) (*linksv1.GetClaimPageResponse, bool) {
	ip := s.ClientIP(r)
	page, wait, err := s.lookups.findLink(r.Context(), ip, token)
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

const (
	// maxFound and maxSpent bound the memory of lookups: beyond them, what was used longest ago is dropped.
	maxFound = 20_000
	maxSpent = 20_000
	// lookupBurst is how many unknown tokens an address may try at once, and lookupEvery how long it waits for each further one.
	lookupBurst = 60
	lookupEvery = 100 * time.Millisecond
)

// tokenHash identifies a token in memory. Comparing hashes takes a time that says nothing about the tokens.
type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

// lookups find the links of tokens that this process has not seen yet. Players may share an address with somebody who tries
// tokens, so only look-ups that find nothing, or fail, are limited, and a token that was found needs no further one. Tokens cannot
// be guessed: the limit saves the services work.
type lookups struct {
	links linksv1.GiftSiteServiceClient
	clock func() time.Time

	mu    sync.Mutex
	found *simplelru.LRU[tokenHash, struct{}]
	// spent is when all look-ups of an address will be available again.
	spent *simplelru.LRU[string, time.Time]
}

func newLookups(links linksv1.GiftSiteServiceClient, clock func() time.Time) *lookups {
	return &lookups{
		links: links, clock: clock,
		found: newLRU[tokenHash, struct{}](maxFound), spent: newLRU[string, time.Time](maxSpent),
	}
}

func newLRU[K comparable, V any](size int) *simplelru.LRU[K, V] {
	lru, err := simplelru.NewLRU[K, V](size, nil)
	if err != nil {
		panic(err) // The size is positive.
	}
	return lru
}

// forget records that the token has no link any more.
func (l *lookups) forget(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Remove(hashToken(token))
}

// findLink returns an error if the token has no link. The page is nil if the link was found earlier. A positive wait means that the
// address has no look-up left for so long.
func (l *lookups) findLink(ctx context.Context, address, token string) (
	page *linksv1.GetClaimPageResponse, wait time.Duration, err error,
) {
	hash := hashToken(token)
	known, wait := l.spend(hash, address)
	if known || wait > 0 {
		return nil, wait, nil
	}
	page, err = l.links.GetClaimPage(ctx, &linksv1.GetClaimPageRequest{Token: token})
	if err != nil {
		return nil, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.Add(hash, struct{}{})
	if full, ok := l.spent.Get(address); ok {
		l.spent.Add(address, full.Add(-lookupEvery))
	}
	return page, 0, nil
}

// spend spends a look-up of the address, unless the token is known.
func (l *lookups) spend(hash tokenHash, address string) (known bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.found.Get(hash); known {
		return true, 0
	}
	now := l.clock()
	full, _ := l.spent.Get(address)
	if full.Before(now) {
		full = now
	}
	full = full.Add(lookupEvery)
	if wait = full.Sub(now) - lookupBurst*lookupEvery; wait > 0 {
		return false, wait
	}
	l.spent.Add(address, full)
	return false, 0
}
