// Package forward sends events to a receiver in the way of the platform's webhooks.
package forward

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

const (
	// timeout is how long the platform waits for an answer.
	timeout = 10 * time.Second
	// maxRead is how much of an answer the platform reads.
	maxRead = 64 << 10
	// maxShown is how much of it is shown.
	maxShown = 1 << 10
)

// Sender posts events to one receiver, signed with each secret.
type Sender struct {
	URL     string
	Secrets []string
	Client  *http.Client
}

// New makes a sender with the limits of the platform: ten seconds, and no redirects.
func New(receiver string, secrets ...string) *Sender {
	return &Sender{URL: receiver, Secrets: secrets, Client: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Verdict is what the platform would make of an answer.
type Verdict struct {
	Delivered  bool   `json:"delivered"`
	Status     int    `json:"status,omitempty"`
	Error      string `json:"error,omitempty"`
	DurationMs int64  `json:"durationMs"`
	// Body is the beginning of the answer.
	Body string `json:"body,omitempty"`
}

// Send posts an event once. Its bytes are those that the platform sends.
func (s *Sender) Send(ctx context.Context, event gifting.Event) Verdict {
	return s.SendAt(ctx, event, time.Now())
}

// SendAt is Send with the time that is signed.
func (s *Sender) SendAt(ctx context.Context, event gifting.Event, at time.Time) Verdict {
	return s.send(ctx, event.Raw, gifting.WebhookHeaders(event.Raw, event.ID, at, s.Secrets...))
}

func (s *Sender) send(ctx context.Context, body []byte, headers http.Header) Verdict {
	began := time.Now()
	since := func() int64 { return time.Since(began).Milliseconds() }
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return Verdict{Error: err.Error()}
	}
	req.Header = headers
	resp, err := s.Client.Do(req)
	if err != nil {
		return Verdict{Error: reason(err), DurationMs: since()}
	}
	defer func() { _ = resp.Body.Close() }()
	v := Verdict{Status: resp.StatusCode, Delivered: resp.StatusCode >= 200 && resp.StatusCode < 300, DurationMs: since()}
	read, _ := io.ReadAll(io.LimitReader(resp.Body, maxRead)) // The status counts, even if the body breaks off.
	v.Body = string(read[:min(len(read), maxShown)])
	switch {
	case v.Delivered:
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		v.Error = fmt.Sprintf("the receiver answered HTTP %d: redirects are not followed", resp.StatusCode)
	default:
		v.Error = fmt.Sprintf("the receiver answered HTTP %d", resp.StatusCode)
	}
	return v
}

// reason says why there is no answer. Package net/http has no types for its own errors, so their texts
// are compared; a test causes each of them.
func reason(err error) string {
	withURL, ok := errors.AsType[*url.Error](err)
	if !ok {
		return err.Error()
	}
	dns, unresolved := errors.AsType[*net.DNSError](err)
	op, inNetwork := errors.AsType[*net.OpError](err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noRecord := errors.AsType[tls.RecordHeaderError](err)
	says := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(words string) bool { return strings.Contains(err.Error(), words) })
	}
	var what string
	switch {
	case unresolved:
		return "the host name " + dns.Name + " could not be resolved"
	case withURL.Timeout():
		return "the receiver did not answer within ten seconds"
	case untrusted:
		what = "the receiver's TLS certificate is not valid"
	case noRecord, errors.Is(err, http.ErrSchemeMismatch):
		return "the receiver does not answer with TLS: its address may begin with http"
	case inNetwork && op.Op == "dial":
		what = "the receiver could not be reached"
	case says("tls: "):
		what = "the TLS handshake failed"
	case says("server response headers exceeded", "response header list larger"):
		return "the headers of the receiver's answer are too large"
	case says("malformed HTTP", "malformed MIME header"):
		return "the receiver's answer is not HTTP"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the receiver closed the connection without an answer"
	default:
		what = "there is no answer"
	}
	return what + ": " + withURL.Err.Error()
}

// Ping makes an event of the type ping with a new id.
func Ping() gifting.Event {
	var random [16]byte
	_, _ = rand.Read(random[:])                                     // It never fails.
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80 // A UUID of version 4.
	id := fmt.Sprintf("%x-%x-%x-%x-%x", random[:4], random[4:6], random[6:8], random[8:10], random[10:])
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	raw := fmt.Sprintf(`{"id":%q,"type":"ping","occurredAt":%q,"environment":"sandbox","data":{}}`, id, now)
	return gifting.Event{ID: id, Type: gifting.EventPing, Raw: json.RawMessage(raw)}
}
