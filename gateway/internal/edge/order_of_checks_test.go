package edge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
)

// attempt is a request that a test builds. It is valid until a check adds an error.
type attempt struct {
	method, path, query, body string
	headers                   []string
	noKey                     bool
	key                       keyState
	lookUp, rule              error
}

// keyState lists the errors that an existing key can have.
type keyState struct{ unscoped, exhausted, revoked bool }

// check is one of the checks of a request, with an error that it finds. spoil adds this error to a request and affects no other
// check.
type check struct {
	name  string
	code  problem.Code
	spoil func(a *attempt)
	// post means that only a POST can have the error, get that only a GET can. Errors of the same group exclude each other.
	post, get bool
	group     string
}

// checks returns the checks in their order. A service has two: its look-up comes before the violations that the gateway finds
// in body and query, its rules come after them. Tests of the services cover the order within them.
func checks() []check {
	return []check{
		{name: "no key", group: "key", code: problem.InvalidAPIKey, spoil: func(a *attempt) { a.noKey = true }},
		{name: "a revoked key", group: "key", code: problem.InvalidAPIKey, spoil: func(a *attempt) { a.key.revoked = true }},
		{name: "rate limit", code: problem.RateLimited, spoil: func(a *attempt) { a.key.exhausted = true }},
		{name: "a forced 429", group: "fault", code: problem.RateLimited, spoil: func(a *attempt) { a.set("Sandbox-Fault", "429") }},
		{name: "unknown path", group: "route", code: problem.NotFound, spoil: func(a *attempt) { a.path = "/nothing" }},
		{name: "method", group: "route", code: problem.MethodNotAllowed, spoil: func(a *attempt) { a.method = "PUT" }},
		{name: "scope", code: problem.InsufficientScope, spoil: func(a *attempt) { a.key.unscoped = true }},
		{name: "Accept", code: problem.NotAcceptable, spoil: func(a *attempt) { a.set("Accept", "text/html") }},
		{
			name: "media type", post: true, code: problem.UnsupportedMediaType,
			spoil: func(a *attempt) { a.set("Content-Type", "text/plain") },
		},
		{name: "coding", post: true, code: problem.UnsupportedMediaType, spoil: func(a *attempt) { a.set("Content-Encoding", "gzip") }},
		{
			name: "size", post: true, group: "body", code: problem.PayloadTooLarge,
			spoil: func(a *attempt) { a.body = strings.Repeat("{", 10<<20+1) },
		},
		{
			name: "no Idempotency-Key", post: true, group: "header", code: problem.IdempotencyKeyRequired,
			spoil: func(a *attempt) { a.set("Idempotency-Key", "") },
		},
		{
			name: "a long Idempotency-Key", post: true, group: "header", code: problem.IdempotencyKeyInvalid,
			spoil: func(a *attempt) { a.set("Idempotency-Key", strings.Repeat("k", 256)) },
		},
		{
			name: "an unknown fault", group: "fault", code: problem.InvalidRequest,
			spoil: func(a *attempt) { a.set("Sandbox-Fault", "418") },
		},
		{
			name: "in-progress", get: true, group: "fault", code: problem.InvalidRequest,
			spoil: func(a *attempt) { a.set("Sandbox-Fault", "in-progress") },
		},
		{
			name: "a forced 409", post: true, group: "fault", code: problem.IdempotencyInProgress,
			spoil: func(a *attempt) { a.set("Sandbox-Fault", "in-progress") },
		},
		{name: "a forced 500", group: "fault", code: problem.InternalError, spoil: func(a *attempt) { a.set("Sandbox-Fault", "500") }},
		{
			name: "a forced 503", group: "fault", code: problem.ServiceUnavailable,
			spoil: func(a *attempt) { a.set("Sandbox-Fault", "503") },
		},
		serviceCheck("running", problem.IdempotencyInProgress, func(a *attempt, err error) { a.lookUp = err }),
		serviceCheck("reused", problem.IdempotencyKeyReused, func(a *attempt, err error) { a.lookUp = err }),
		{name: "broken JSON", post: true, group: "body", code: problem.InvalidRequest, spoil: func(a *attempt) { a.body = `{` }},
		{name: "a field", post: true, group: "body", code: problem.InvalidRequest, spoil: func(a *attempt) { a.body = `{"urgent":1}` }},
		{name: "malformed query", code: problem.InvalidRequest, spoil: func(a *attempt) { a.query = "?limit=%zz" }},
		{name: "parameter", get: true, code: problem.InvalidRequest, spoil: func(a *attempt) { a.query = "?limit=x" }},
		serviceCheck("rule", problem.BrandNotFound, func(a *attempt, err error) { a.rule = err }),
		serviceCheck("conflict", problem.OutOfStock, func(a *attempt, err error) { a.rule = err }),
	}
}

func serviceCheck(name string, code problem.Code, set func(a *attempt, err error)) check {
	return check{name: name, post: true, group: "service", code: code, spoil: func(a *attempt) { set(a, problem.New(code, "why")) }}
}

func (a *attempt) set(name, value string) { a.headers = append(a.headers, name, value) }

// combines reports whether one request can have both errors.
func (c check) combines(other check, method string) bool {
	return c.occurs(method) && other.occurs(method) && (c.group == "" || c.group != other.group)
}

func (c check) occurs(method string) bool {
	return (!c.post || method == "POST") && (!c.get || method == "GET")
}

func newAttempt(method string) attempt {
	a := attempt{method: method, path: "/orders"}
	if method == "POST" {
		a.body = `{"externalOrderId":"o-1"}`
	}
	return a
}

func TestOfTwoErrorsTheEarlierIsReported(t *testing.T) {
	t.Parallel()
	keys := newKeyring(t)
	all := checks()
	pairs := 0
	for _, method := range []string{"GET", "POST"} {
		for i, earlier := range all {
			for _, later := range all[i+1:] {
				if !earlier.combines(later, method) {
					continue
				}
				pairs++
				t.Run(method+"/"+earlier.name+" before "+later.name, func(t *testing.T) {
					a := newAttempt(method)
					later.spoil(&a)
					earlier.spoil(&a)
					keys.requireCode(t, a, earlier.code)
				})
			}
		}
	}
	require.Greater(t, pairs, 150)
}

func TestEachErrorAloneIsReported(t *testing.T) {
	t.Parallel()
	keys := newKeyring(t)
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			a := newAttempt(map[bool]string{true: "GET", false: "POST"}[c.get])
			c.spoil(&a)
			keys.requireCode(t, a, c.code)
		})
	}
}

// keyring sends attempts, each from a different address, with a key in the requested state.
type keyring struct {
	*gatewaytest.Fixture
	keys map[keyState]string
}

func newKeyring(t *testing.T) *keyring {
	t.Helper()
	return &keyring{Fixture: gatewaytest.New(t), keys: map[keyState]string{}}
}

func (k *keyring) requireCode(t *testing.T, a attempt, code problem.Code) {
	t.Helper()
	f := k.For(t)
	f.UseNewCaller()
	f.Key = k.key(t, a.key)
	f.LookUp, f.Failure = a.lookUp, a.rule
	headers := a.headers
	if a.noKey {
		headers = append(headers, "Authorization", "")
	}
	got := f.Do(a.method, a.path+a.query, a.body, headers...)
	require.Equal(t, string(code), got.Parsed["code"], got.Body)
}

// key returns a key in the state. The first call makes it: if the state demands, its requests are used up, and then it is
// revoked.
func (k *keyring) key(t *testing.T, state keyState) string {
	t.Helper()
	if key, made := k.keys[state]; made {
		return key
	}
	f := k.For(t)
	f.UseNewCaller()
	if state.unscoped {
		f.Key = k.UnscopedKey()
	}
	require.Equal(t, 200, f.Do("GET", "/me", "").Status)
	if state.exhausted {
		f.ExhaustRateLimit()
	}
	if state.revoked {
		k.Revoke(t, f.Key)
	}
	k.keys[state] = f.Key
	return f.Key
}
