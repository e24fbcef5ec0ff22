// Package inbox is a webhook receiver for one machine: it verifies deliveries, keeps the newest in memory and shows them.
//
//	POST   any path   takes a webhook and responds with 204, even if the signature is wrong
//	GET    /          all kept deliveries as a JSON array, newest last; with ?path=/x those of the path
//	DELETE /          deletes all deliveries
//
// It checks signatures with the Go SDK, as an integrator does. It must not be exposed to a network.
package inbox

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const (
	// maxKept bounds the memory: the oldest deliveries are dropped first.
	maxKept = 10_000
	// maxBody is above the API's limit of a request body.
	maxBody = 11 << 20
)

// Delivery is one webhook that arrived.
type Delivery struct {
	ReceivedAt time.Time         `json:"receivedAt"`
	Path       string            `json:"path"`
	Headers    map[string]string `json:"headers"`
	// Body is the body if it is JSON, otherwise the body as a JSON string.
	Body json.RawMessage `json:"body"`
	// Raw is the body byte for byte, which is what the signature covers.
	Raw string `json:"raw"`
	// Verified means that the signature fits the secret and its time is within the tolerance.
	Verified bool `json:"verified"`
}

// Inbox receives webhooks. It is safe for concurrent use.
type Inbox struct {
	secret string

	lock sync.Mutex
	kept []Delivery // Newest last.
}

// New makes an inbox that verifies with the signing secret of a key.
func New(secret string) *Inbox {
	return &Inbox{secret: secret}
}

// Handler serves the inbox.
func (b *Inbox) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", b.receive)
	mux.HandleFunc("GET /{$}", b.show)
	mux.HandleFunc("DELETE /{$}", b.clear)
	return mux
}

func (b *Inbox) receive(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	b.add(Delivery{
		ReceivedAt: time.Now().UTC(),
		Path:       r.URL.Path,
		Headers:    flat(r.Header),
		Body:       body(raw),
		Raw:        string(raw),
		Verified:   gifting.Verifier{Secrets: []string{b.secret}}.Check(raw, r.Header) == nil,
	})
	w.WriteHeader(http.StatusNoContent)
}

func (b *Inbox) add(d Delivery) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.kept = append(b.kept[max(0, len(b.kept)+1-maxKept):], d)
}

// Deliveries returns the kept deliveries, newest last.
func (b *Inbox) Deliveries() []Delivery {
	b.lock.Lock()
	defer b.lock.Unlock()
	return append([]Delivery{}, b.kept...)
}

func (b *Inbox) show(w http.ResponseWriter, r *http.Request) {
	deliveries := b.Deliveries()
	if path := r.URL.Query().Get("path"); path != "" {
		deliveries = slices.DeleteFunc(deliveries, func(d Delivery) bool { return d.Path != path })
	}
	w.Header().Set("Content-Type", "application/json")
	// An error means that the reader has disconnected.
	_ = json.NewEncoder(w).Encode(deliveries)
}

func (b *Inbox) clear(w http.ResponseWriter, _ *http.Request) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.kept = nil
	w.WriteHeader(http.StatusNoContent)
}

func flat(headers http.Header) map[string]string {
	out := make(map[string]string, len(headers))
	for name, values := range headers {
		out[name] = strings.Join(values, ", ")
	}
	return out
}

func body(raw []byte) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	text, err := json.Marshal(string(raw))
	if err != nil {
		return json.RawMessage("null") // Encoding a string does not fail.
	}
	return text
}
