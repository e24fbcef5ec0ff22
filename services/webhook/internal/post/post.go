// Package post sends one event to one receiver. Deliveries and tests share it, and with it the one
// HTTP client that decides which addresses may be reached.
package post

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

const (
	// maxRead bounds what is read of an answer, so that its connection can be used again.
	maxRead = 64 << 10
	// MaxKept bounds what is kept of it for the log.
	MaxKept = 1 << 10

	userAgent = "Partner-Gifting-Webhooks/1"
)

// Request is an event on its way to a receiver.
type Request struct {
	URL     string
	Secret  string
	EventID string
	Body    []byte
}

// Answer is what came back.
type Answer struct {
	rules.Outcome
	// Body is the beginning of the answer's body.
	Body []byte
	// Cause is the fault of a POST that was not answered, for our log only. It is without the URL,
	// in which partners may keep secrets.
	Cause error
}

// Poster sends requests with a client that is made for addresses partners choose.
type Poster struct {
	client *http.Client
	now    func() time.Time
}

// New makes a poster. now is the time the signatures tell.
func New(client *http.Client, now func() time.Time) *Poster {
	return &Poster{client: client, now: now}
}

// Post signs and sends the request once. ctx bounds the whole exchange. The answer's status counts
// as soon as it is there, even when the body that follows is cut or slow.
func (p *Poster) Post(ctx context.Context, r Request) Answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return unanswered(err)
	}
	p.sign(req.Header, r)
	resp, err := p.client.Do(req)
	if err != nil {
		return unanswered(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return Answer{Outcome: rules.Answered(resp.StatusCode), Body: readStart(resp.Body)}
}

func unanswered(err error) Answer {
	cause := err
	if whole, ok := errors.AsType[*url.Error](err); ok {
		cause = whole.Err
	}
	return Answer{Outcome: rules.Unanswered(err), Cause: cause}
}

func (p *Poster) sign(h http.Header, r Request) {
	now := p.now()
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", userAgent)
	h.Set("Service-Event-Id", r.EventID)
	h.Set("Service-Signature", rules.Signature(r.Secret, now, r.Body))
	h.Set("Webhook-Id", r.EventID)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("Webhook-Signature", rules.StandardSignature(r.Secret, r.EventID, now, r.Body))
}

// readStart keeps the beginning and drops the rest up to the bound.
func readStart(body io.Reader) []byte {
	bounded := io.LimitReader(body, maxRead)
	kept := make([]byte, MaxKept)
	n, err := io.ReadFull(bounded, kept)
	if err == nil {
		_, _ = io.Copy(io.Discard, bounded)
	}
	return kept[:n]
}
