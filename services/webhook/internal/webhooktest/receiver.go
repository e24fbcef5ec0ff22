// Package webhooktest contains test helpers for webhook delivery: a receiver that verifies its requests, a check that no
// inconsistent rows are left in the database, and twin rows of another tenant.
package webhooktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Arrival is a request that a receiver got.
type Arrival struct {
	Header http.Header
	Body   []byte
	// Verified reports whether the signature is that of the body with the receiver's secret.
	Verified bool
}

// Receiver is an integrator's server.
type Receiver struct {
	URL string

	guard      sync.Mutex
	secret     string
	respond    http.HandlerFunc
	arrivals   []Arrival
	running    int
	maxRunning int
}

// NewReceiver listens on loopback until the test ends and responds with 200 until Respond changes that.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{secret: strings.Repeat("0123456789abcdef", 4), respond: Status(http.StatusOK)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL + "/hook"
	return r
}

// Status responds with a status.
func Status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Blocked responds with 200 once release is closed.
func Blocked(release <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
			w.WriteHeader(http.StatusOK)
		case <-req.Context().Done():
		}
	}
}

// Respond sets the response to requests from now on.
func (r *Receiver) Respond(respond http.HandlerFunc) {
	r.guard.Lock()
	defer r.guard.Unlock()
	r.respond = respond
}

// Endpoint is the receiver as the active endpoint of a key.
func (r *Receiver) Endpoint(keyID int32) *tenantsv1.Endpoint {
	r.guard.Lock()
	defer r.guard.Unlock()
	return &tenantsv1.Endpoint{
		KeyId: keyID, State: tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE, Url: r.URL, Secret: r.secret, AllBrands: true,
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS},
	}
}

// Rotate changes the secret.
func (r *Receiver) Rotate(secret string) {
	r.guard.Lock()
	defer r.guard.Unlock()
	r.secret = secret
}

// Arrivals are the requests so far.
func (r *Receiver) Arrivals() []Arrival {
	r.guard.Lock()
	defer r.guard.Unlock()
	return append([]Arrival(nil), r.arrivals...)
}

// MaxConcurrent is the largest number of concurrent requests so far.
func (r *Receiver) MaxConcurrent() int {
	r.guard.Lock()
	defer r.guard.Unlock()
	return r.maxRunning
}

// ServeHTTP records the request and responds to it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.guard.Lock()
	r.running++
	r.maxRunning = max(r.maxRunning, r.running)
	r.arrivals = append(r.arrivals, Arrival{
		Header: req.Header.Clone(), Body: body,
		Verified: verify(req.Header.Get("Service-Signature"), r.secret, body),
	})
	respond := r.respond
	r.guard.Unlock()

	defer func() {
		r.guard.Lock()
		defer r.guard.Unlock()
		r.running--
	}()
	respond(w, req)
}

// verify does what the API specification tells receivers to do, without the sender's code.
func verify(header, secret string, body []byte) bool {
	parts := map[string]string{}
	for member := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(member, "=")
		parts[name] = value
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(parts["t"] + "." + string(body)))
	got, err := hex.DecodeString(parts["v1"])
	return err == nil && hmac.Equal(got, mac.Sum(nil))
}
