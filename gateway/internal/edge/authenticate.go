package edge

import (
	"net/http"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

// authenticate finds the principal of the request's key and counts the request against its limit.
// A fault counts against the client's address: past its limit a key that has not been seen to work
// here is refused unasked, while one that has goes on working.
func (h *Handler) authenticate(w http.ResponseWriter, r *http.Request, c *call) error {
	hash, err := h.Keys.Hash(bearer(r.Header))
	if err == nil {
		c.principal, err = h.resolve(r, hash)
	}
	if err == nil {
		c.principal, err = h.count(w, r, hash, c.principal)
	}
	if problem.Is(err, problem.InvalidAPIKey) {
		if verdict := h.Failures.Take(h.Proxies.ClientIP(r)); !verdict.Allowed {
			return tooManyFailures(verdict)
		}
	}
	return err
}

func (h *Handler) resolve(r *http.Request, hash string) (caller.Principal, error) {
	p, fresh, known := h.Keys.Known(hash)
	if fresh {
		return p, nil
	}
	if verdict, exhausted := h.Failures.Exhausted(h.Proxies.ClientIP(r)); exhausted && !known {
		return caller.Principal{}, tooManyFailures(verdict)
	}
	return h.Keys.Fetch(r.Context(), hash)
}

func tooManyFailures(v limits.Verdict) error {
	return limited("Too many requests with an invalid API key from this address.", v)
}

// count takes one request of the key's limit. The same round trip tells whether the principal is
// still the tenant's latest; if not it is fetched again, and a key revoked since is refused.
func (h *Handler) count(w http.ResponseWriter, r *http.Request, hash string, p caller.Principal) (caller.Principal, error) {
	verdict, version := h.Limiter.TakeKey(r.Context(), p.TenantID, p.KeyID)
	if version > p.TenantVersion {
		latest, err := h.Keys.Fetch(r.Context(), hash)
		if err != nil {
			return p, err
		}
		p = latest
	}
	h.Limiter.Policy.WriteHeaders(w.Header(), verdict)
	if !verdict.Allowed {
		return p, limited("This key has used up its requests of the last minute.", verdict)
	}
	return p, nil
}

func limited(detail string, v limits.Verdict) error {
	e := problem.New(problem.RateLimited, "%s", detail)
	e.RetryAfter = max(v.Reset, time.Second)
	return e
}

// bearer gives the key of the Authorization header, or nothing.
func bearer(h http.Header) string {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}
