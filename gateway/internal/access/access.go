// Package access decides whether a caller may use the API at all: it authenticates the API key and counts the request (API
// specification, sections Authentication and Limits).
//
// The principal of a key is cached in the process. The round trip to Redis that counts a request also returns the version of
// the tenant's settings. A cached principal is looked up again if Redis has a newer version or does not return one, after its lease
// unless the tenants service has renewed it (package tenants), and after Redis was restarted or replaced, because it may have been
// set back. So a revoked key is refused from the next request on, whatever Redis does. While the tenants service does not answer,
// keys that have worked before keep working for Config.KeyStale, as long as Redis takes writes, has no newer version and is not
// restarted. A gateway without requests for tenants.VersionLease cannot know whether Redis lost a version meanwhile, so it asks
// again. While a tenant moves to another cell, its keys are looked up with every request, each by a look-up of its own.
package access

import (
	"net/http"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Deps are what a Checker works with.
type Deps struct {
	Directory tenantsv1.DirectoryServiceClient
	// Limiter counts the requests of keys, Failures the invalid keys of client addresses.
	Limiter  *limits.Limiter
	Failures *limits.Window
	ClientIP func(r *http.Request) string
	Clock    func() time.Time
}

// Config of a Checker: the environment of its keys, and how long a key works while it cannot be looked up.
type Config struct {
	Environment apikey.Environment
	KeyStale    time.Duration
}

// Checker authenticates and counts requests.
type Checker struct {
	deps Deps
	keys *keys
}

// New makes a Checker.
func New(deps Deps, cfg Config) *Checker {
	return &Checker{deps: deps, keys: newKeys(deps, cfg)}
}

// NoteNewRedis is to be called when the limiter has connected to a Redis that may be another one than before.
func (c *Checker) NoteNewRedis() {
	c.keys.newRedisAt.Store(int64(c.deps.Clock().Sub(c.keys.began)))
}

// Check returns the principal of the request's key, and invalid_api_key or rate_limited when the request is refused. It
// writes the rate-limit headers.
//
// An invalid key counts against the client's address. Once an address has reached its limit, keys that have not worked in this
// process are refused without a look-up, while those that have keep working.
func (c *Checker) Check(header http.Header, r *http.Request) (caller.Principal, error) {
	p, err := c.authenticate(header, r)
	if problem.Is(err, problem.InvalidAPIKey) {
		if verdict := c.deps.Failures.Take(c.deps.ClientIP(r)); !verdict.Allowed {
			return p, tooManyFailures(verdict)
		}
	}
	return p, err
}

func (c *Checker) authenticate(header http.Header, r *http.Request) (p caller.Principal, err error) {
	hash, err := c.keys.hash(bearer(r.Header))
	if err != nil {
		return p, err
	}
	p, _, known := c.keys.cached(hash)
	if !known {
		if verdict, exhausted := c.deps.Failures.Exhausted(c.deps.ClientIP(r)); exhausted {
			return p, tooManyFailures(verdict)
		}
		if p, err = c.keys.fetch(r.Context(), hash, unknownVersion); err != nil {
			return p, err
		}
	}
	verdict, version := c.deps.Limiter.TakeKey(r.Context(), p.TenantID, p.KeyID)
	c.deps.Limiter.WriteHeaders(header, verdict)
	if verdict.Allowed && version != unknownVersion {
		c.keys.noteConfirmed()
	}
	if p, err = c.keys.latest(r.Context(), hash, version); err != nil {
		return p, err
	}
	if !verdict.Allowed {
		return p, httperror.RateLimited("This key has used up its requests of the last minute.", verdict.Reset)
	}
	return p, nil
}

// Recheck returns the principal as it is now, for a request that was accepted a while ago. The request is not counted again.
func (c *Checker) Recheck(r *http.Request) (p caller.Principal, err error) {
	hash, err := c.keys.hash(bearer(r.Header))
	if err != nil {
		return p, err
	}
	p, _, _ = c.keys.cached(hash) // For a key that is not cached, no version is known.
	return c.keys.latest(r.Context(), hash, c.deps.Limiter.Version(r.Context(), p.TenantID, p.KeyID))
}

func tooManyFailures(v limits.Verdict) error {
	return httperror.RateLimited("Too many requests with an invalid API key from this address.", v.Reset)
}

// bearer returns the key of the Authorization header, or nothing.
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
