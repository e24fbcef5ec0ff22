package gateway_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// attempt is a request in the making. It is well formed until a fault spoils it.
type attempt struct {
	method, path, query, body string
	headers                   []string
	noKey                     bool
	key                       keyState
	lookup, rule              error
}

// keyState is what can be wrong with a key that exists.
type keyState struct{ bare, exhausted, revoked bool }

// check is one of the checks of a request, as the fault that it finds. spoil puts the fault into a
// request and leaves every other check as it was.
type check struct {
	name  string
	code  problem.Code
	spoil func(a *attempt)
	// post says that only a POST can have the fault, get that only a GET can. A group's members
	// exclude each other.
	post, get bool
	group     string
}

// checks are in the order in which they are made. What a service decides, in which order, is the
// service's to test: here it stands for one check, of which the look-up comes before the faults that
// the edge finds in body and query, and the rules come after.
func checks() []check {
	return []check{
		{name: "no key", group: "key", code: problem.InvalidAPIKey, spoil: func(a *attempt) { a.noKey = true }},
		{name: "a revoked key", group: "key", code: problem.InvalidAPIKey, spoil: func(a *attempt) { a.key.revoked = true }},
		{name: "rate limit", code: problem.RateLimited, spoil: func(a *attempt) { a.key.exhausted = true }},
		{name: "unknown path", group: "route", code: problem.NotFound, spoil: func(a *attempt) { a.path = "/nothing" }},
		{name: "method", group: "route", code: problem.MethodNotAllowed, spoil: func(a *attempt) { a.method = "PUT" }},
		{name: "scope", code: problem.InsufficientScope, spoil: func(a *attempt) { a.key.bare = true }},
		{name: "Accept", code: problem.NotAcceptable, spoil: func(a *attempt) { a.set("Accept", "text/html") }},
		{name: "media type", post: true, code: problem.UnsupportedMediaType, spoil: func(a *attempt) { a.set("Content-Type", "text/plain") }},
		{name: "coding", post: true, code: problem.UnsupportedMediaType, spoil: func(a *attempt) { a.set("Content-Encoding", "gzip") }},
		{name: "size", post: true, group: "body", code: problem.PayloadTooLarge, spoil: func(a *attempt) { a.body = strings.Repeat("{", 10<<20+1) }},
		{
			name: "no Idempotency-Key", post: true, group: "header", code: problem.IdempotencyKeyRequired,
			spoil: func(a *attempt) { a.set("Idempotency-Key", "") },
		},
		{
			name: "a long Idempotency-Key", post: true, group: "header", code: problem.IdempotencyKeyInvalid,
			spoil: func(a *attempt) { a.set("Idempotency-Key", strings.Repeat("k", 256)) },
		},
		{
			name: "running", post: true, group: "service", code: problem.IdempotencyInProgress,
			spoil: func(a *attempt) { a.lookup = problem.New(problem.IdempotencyInProgress, "why") },
		},
		{
			name: "reused", post: true, group: "service", code: problem.IdempotencyKeyReused,
			spoil: func(a *attempt) { a.lookup = problem.New(problem.IdempotencyKeyReused, "why") },
		},
		{name: "broken JSON", post: true, group: "body", code: problem.InvalidRequest, spoil: func(a *attempt) { a.body = `{` }},
		{name: "a field", post: true, group: "body", code: problem.InvalidRequest, spoil: func(a *attempt) { a.body = `{"urgent":1}` }},
		{name: "malformed query", code: problem.InvalidRequest, spoil: func(a *attempt) { a.query = "?limit=%zz" }},
		{name: "parameter", get: true, code: problem.InvalidRequest, spoil: func(a *attempt) { a.query = "?limit=x" }},
		{name: "rule", post: true, group: "service", code: problem.BrandNotFound, spoil: func(a *attempt) { a.rule = problem.New(problem.BrandNotFound, "why") }},
		{name: "conflict", post: true, group: "service", code: problem.OutOfStock, spoil: func(a *attempt) { a.rule = problem.New(problem.OutOfStock, "why") }},
	}
}

func (a *attempt) set(name, value string) { a.headers = append(a.headers, name, value) }

// together says whether one request can have both faults and each is a fault of it.
func (c check) together(other check, method string) bool {
	return c.occurs(method) && other.occurs(method) && (c.group == "" || c.group != other.group)
}

func (c check) occurs(method string) bool {
	return (!c.post || method == "POST") && (!c.get || method == "GET")
}

func TestOfTwoFaultsTheEarlierIsAnswered(t *testing.T) {
	keys := newKeyring(t)
	all := checks()
	pairs := 0
	for _, method := range []string{"GET", "POST"} {
		for i, earlier := range all {
			for _, later := range all[i+1:] {
				if !earlier.together(later, method) {
					continue
				}
				pairs++
				t.Run(method+"/"+earlier.name+" before "+later.name, func(t *testing.T) {
					a := attempt{method: method, path: "/orders"}
					if method == "POST" {
						a.body = `{"externalOrderId":"o-1"}`
					}
					later.spoil(&a)
					earlier.spoil(&a)
					got := keys.send(t, a)
					require.Equal(t, string(earlier.code), got.parsed["code"], got.body)
				})
			}
		}
	}
	require.Greater(t, pairs, 150, "the pairs were made")
}

func TestEachFaultByItselfIsAnswered(t *testing.T) {
	keys := newKeyring(t)
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			a := attempt{method: "POST", path: "/orders", body: `{"externalOrderId":"o-1"}`}
			if c.get {
				a = attempt{method: "GET", path: "/orders"}
			}
			c.spoil(&a)
			got := keys.send(t, a)
			require.Equal(t, string(c.code), got.parsed["code"], got.body)
		})
	}
}

// keyring sends attempts, each from an address of its own, by a key of the state they ask for.
type keyring struct {
	*backend
	base string
	made map[keyState]string
}

func newKeyring(t *testing.T) *keyring {
	t.Helper()
	b := startBackend(t)
	f := newFixture(t, b, startGateway(t, b, telemetry.Discard(), nil))
	return &keyring{backend: b, base: f.base, made: map[keyState]string{}}
}

func (k *keyring) send(t *testing.T, a attempt) answer {
	t.Helper()
	f := &fixture{backend: k.backend, t: t, base: k.base, key: k.in(t, a.key), address: newAddress()}
	f.lookup, f.fault = a.lookup, a.rule
	headers := a.headers
	if a.noKey {
		headers = append(headers, "Authorization", "")
	}
	return f.do(a.method, a.path+a.query, a.body, headers...)
}

// in gives the key of a state, which is made the first time: it works until its requests are used
// up, and is revoked last.
func (k *keyring) in(t *testing.T, state keyState) string {
	t.Helper()
	if key, made := k.made[state]; made {
		return key
	}
	f := &fixture{backend: k.backend, t: t, base: k.base, key: apikey.New(apikey.Sandbox), address: newAddress()}
	if state.bare {
		f.key = k.withoutScopes()
	}
	require.Equal(t, 200, f.do("GET", "/me", "").status)
	if state.exhausted {
		f.spend()
	}
	if state.revoked {
		k.revoke(t, f.key)
	}
	k.made[state] = f.key
	return f.key
}
