// Package webhookclient sends one event to one receiver. Deliveries and tests share it and its HTTP client, which allows only
// public addresses.
package webhookclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

const (
	// maxRead is how many bytes of a response are read, so that its connection can be reused.
	maxRead = 64 << 10
	// maxLogged is how many of them are logged.
	maxLogged = 1 << 10

	userAgent = "Partner-Gifting-Webhooks/1"
)

// Request is an event for a receiver.
type Request struct {
	URL     string
	Secrets Secrets
	EventID string
	Body    []byte
}

// Secrets sign the requests to an endpoint.
type Secrets struct {
	current string
	// previous also signs, until a time of this process's clock. It is empty if no former secret signs.
	previous string
	until    time.Time
}

// SecretsOf returns the secrets of an endpoint that was looked up at that time or later.
func SecretsOf(e *tenantsv1.Endpoint, lookedUp time.Time) Secrets {
	return Secrets{current: e.GetSecret(), previous: e.GetPreviousSecret(), until: lookedUp.Add(e.GetPreviousSignsFor().AsDuration())}
}

// active are the secrets that sign now. The new one is the last.
func (s Secrets) active() []string {
	if s.previous == "" || time.Until(s.until) <= 0 {
		return []string{s.current}
	}
	return []string{s.previous, s.current}
}

// Response is the receiver's response, or the reason why there is none.
type Response struct {
	rules.Outcome
	// Body is the beginning of the response's body.
	Body []byte
	// Cause is the error of a request without a response, for our log only. It does not contain the
	// URL, in which integrators may keep secrets.
	Cause error
}

// Client sends requests.
type Client struct {
	http *http.Client
	now  func() time.Time
}

// New makes a client. The HTTP client must be safe for URLs that integrators choose; now is the time in the signatures.
func New(client *http.Client, now func() time.Time) *Client {
	return &Client{http: client, now: now}
}

// Post signs the request and sends it. ctx bounds the whole exchange. The status counts as soon as it arrives, even if the
// body is incomplete or slow.
func (c *Client) Post(ctx context.Context, r Request) Response {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return failed(err)
	}
	c.sign(req.Header, r)
	// A receiver may close an idle connection just as it is used. The entry lets net/http send the request again on another one, if
	// no byte of a response has come. An empty list is not sent as a header.
	req.Header["Idempotency-Key"] = []string{}
	resp, err := c.http.Do(req)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answered := Response{Outcome: rules.Answered(resp.StatusCode)}
	// The body of a 101 is the connection itself, and ctx does not end reading it.
	if resp.StatusCode != http.StatusSwitchingProtocols {
		answered.Body = readStart(resp.Body)
	}
	return answered
}

func failed(err error) Response {
	cause := err
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		cause = withURL.Err
	}
	return Response{Outcome: rules.Unanswered(err), Cause: cause}
}

func (c *Client) sign(h http.Header, r Request) {
	now, secrets := c.now(), r.Secrets.active()
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", userAgent)
	h.Set("Service-Event-Id", r.EventID)
	h.Set("Service-Signature", rules.Signature(secrets, now, r.Body))
	h.Set("Webhook-Id", r.EventID)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("Webhook-Signature", rules.StandardSignature(secrets, r.EventID, now, r.Body))
}

// readStart returns the beginning of the body and drains the rest up to maxRead.
func readStart(body io.Reader) []byte {
	bounded := io.LimitReader(body, maxRead)
	start := make([]byte, maxLogged)
	n, err := io.ReadFull(bounded, start)
	if err == nil {
		_, _ = io.Copy(io.Discard, bounded)
	}
	return start[:n]
}
