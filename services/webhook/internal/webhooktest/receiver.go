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
)

// Arrival is one request a receiver got.
type Arrival struct {
	Header http.Header
	Body   []byte
	// Verified says whether the signature fits the body and the receiver's secret.
	Verified bool
}

// Receiver is a partner's server.
type Receiver struct {
	URL string

	guard    sync.Mutex
	secret   string
	respond  http.HandlerFunc
	arrivals []Arrival
	running  int
	most     int
}

// NewReceiver listens on loopback until the test ends and answers 200 unless told otherwise.
func NewReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{secret: strings.Repeat("0123456789abcdef", 4), respond: Status(http.StatusOK)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL + "/hook"
	return r
}

// Status answers with a status.
func Status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Blocked answers 200 once release is closed.
func Blocked(release <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		select {
		case <-release:
			w.WriteHeader(http.StatusOK)
		case <-req.Context().Done():
		}
	}
}

// Respond sets the answer to requests from now on.
func (r *Receiver) Respond(answer http.HandlerFunc) {
	r.guard.Lock()
	defer r.guard.Unlock()
	r.respond = answer
}

// Secret is what the receiver verifies with.
func (r *Receiver) Secret() string {
	r.guard.Lock()
	defer r.guard.Unlock()
	return r.secret
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

// MostAtOnce is how many requests were under way at the same time at most.
func (r *Receiver) MostAtOnce() int {
	r.guard.Lock()
	defer r.guard.Unlock()
	return r.most
}

// ServeHTTP records the request and answers it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.guard.Lock()
	r.running++
	r.most = max(r.most, r.running)
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

// verify does what the API specification tells receivers to do, written apart from the sender.
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
