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
	"slices"
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
	URL string
	// Secrets sign, each of them. The newest is the last.
	Secrets []string
	EventID string
	Body    []byte
}

// Secrets are those that sign for an endpoint, oldest first. A tenants service of the previous version returns at most one of before.
func Secrets(e *tenantsv1.Endpoint) []string {
	previous := e.GetPreviousSecrets()
	if len(previous) == 0 && e.GetPreviousSecret() != "" {
		previous = []string{e.GetPreviousSecret()}
	}
	secrets := append([]string{e.GetSecret()}, previous...)
	slices.Reverse(secrets)
	return secrets
}

// Response is the receiver's response, or the reason why there is none.
type Response struct {
	rules.Outcome
	// Body is the beginning of the response's body.
	Body []byte
	// Cause is the error of a request without a response, for our log only. It does not contain the
	// URL, in which partners may keep secrets.
	Cause error
}

// Client sends requests.
type Client struct {
	http *http.Client
	now  func() time.Time
}

// New makes a client. The HTTP client must be safe for URLs that partners choose; now is the time in the signatures.
func New(client *http.Client, now func() time.Time) *Client {
	return &Client{http: client, now: now}
}

// Post signs the request and sends it once. ctx bounds the whole exchange. The status counts as soon as it arrives, even if the
// body is incomplete or slow.
func (c *Client) Post(ctx context.Context, r Request) Response {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return failed(err)
	}
	c.sign(req.Header, r)
	resp, err := c.http.Do(req)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return Response{Outcome: rules.Answered(resp.StatusCode), Body: readStart(resp.Body)}
}

func failed(err error) Response {
	cause := err
	if withURL, ok := errors.AsType[*url.Error](err); ok {
		cause = withURL.Err
	}
	return Response{Outcome: rules.Unanswered(err), Cause: cause}
}

func (c *Client) sign(h http.Header, r Request) {
	now := c.now()
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", userAgent)
	h.Set("Service-Event-Id", r.EventID)
	h.Set("Service-Signature", rules.Signature(r.Secrets, now, r.Body))
	h.Set("Webhook-Id", r.EventID)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("Webhook-Signature", rules.StandardSignature(r.Secrets, r.EventID, now, r.Body))
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
