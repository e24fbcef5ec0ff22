// Package httperror renders errors as application/problem+json. No other package does (API specification, section Errors).
package httperror

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
)

const contentType = "application/problem+json"

// Writer renders errors. DocsURL is the address of the page that explains their types.
type Writer struct {
	DocsURL string
	Log     *slog.Logger
}

type body struct {
	Type          string  `json:"type"`
	Title         string  `json:"title"`
	Status        int     `json:"status"`
	Code          string  `json:"code"`
	Detail        string  `json:"detail,omitempty"`
	Instance      string  `json:"instance,omitempty"`
	Errors        []field `json:"errors,omitempty"`
	CurrentStatus string  `json:"currentStatus,omitempty"`
	OrderID       string  `json:"orderId,omitempty"`
}

type field struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Write writes the error and returns its code. An error that is not of pkg/problem is an internal_error. The instance is the
// Request-Id of the response, or that of the first response if the error was stored. It aborts the request if its caller has left.
func (p Writer) Write(ctx context.Context, w http.ResponseWriter, err error) problem.Code {
	AbortIfCallerLeft(ctx, err)
	e, ok := problem.As(err)
	if !ok {
		e = problem.Internal()
	}
	if (e.Code == problem.InternalError || e.Code == problem.ServiceUnavailable) && !rpc.RefusedByOlder(err) {
		p.Log.WarnContext(ctx, "request failed", "error", err)
	}
	status := problem.Lookup(e.Code).Status
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-store")
	if e.RetryAfter > 0 {
		SetRetryAfter(header, e.RetryAfter)
	}
	if status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
		// A 401 has no rate limit. The gateway has set one if only the service knows yet that the key was revoked.
		header.Del("RateLimit")
		header.Del("RateLimit-Policy")
	}
	w.WriteHeader(status)
	_, _ = w.Write(p.Body(header.Get("Request-Id"), e))
	return e.Code
}

// SetRetryAfter sets the header Retry-After.
func SetRetryAfter(header http.Header, d time.Duration) { header.Set("Retry-After", Seconds(d)) }

// Seconds rounds up to whole seconds.
func Seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// RateLimited returns a rate_limited error. The caller should wait at least one second.
func RateLimited(detail string, wait time.Duration) error {
	e := problem.New(problem.RateLimited, "%s", detail)
	e.RetryAfter = max(wait, time.Second)
	return e
}

// Body renders the error.
func (p Writer) Body(requestID string, e *problem.Error) []byte {
	info := problem.Lookup(e.Code)
	b := body{
		Type:          p.DocsURL + "/errors#" + string(info.Code),
		Title:         info.Title,
		Status:        info.Status,
		Code:          string(info.Code),
		Detail:        e.Detail,
		Instance:      requestID,
		CurrentStatus: e.CurrentStatus,
		OrderID:       e.OrderID,
	}
	if e.Instance != "" {
		b.Instance = e.Instance
	}
	for _, v := range e.Violations {
		b.Errors = append(b.Errors, field{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	raw, err := json.Marshal(b)
	if err != nil { // Encoding a struct of strings and one int does not fail.
		return []byte(`{"code":"internal_error","status":500}`)
	}
	return raw
}

// Listener rewrites the errors that net/http sends before any handler runs, because a request is not well-formed HTTP or expects
// something unknown. They are plain text or empty, an unknown transfer coding is a 501 and an unknown expectation a 417. With the
// Listener they are problem documents with status 400.
type Listener struct {
	net.Listener
	Writer Writer
}

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: accepted, writer: l.Writer}, nil
}

type conn struct {
	net.Conn
	writer  Writer
	lengths lengthScanner
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.lengths.scan(p[:n])
	return n, err
}

// plainErrorHeaders end the header of each error that net/http itself sends, in a single write. A handler's response has a Date
// header, so it never matches.
var plainErrorHeaders = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// unknownExpectation is the beginning of the whole answer of net/http to an unknown header Expect.
var unknownExpectation = regexp.MustCompile(`^HTTP/1\.[01] 417 `)

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	var reason string
	_, head, ok := bytes.Cut(p, []byte("\r\n"))
	switch {
	case ok && bytes.HasPrefix(p, []byte("HTTP/1.1 ")) && bytes.HasPrefix(head, plainErrorHeaders):
		reason = "the request is not well-formed HTTP"
	case ok && unknownExpectation.Match(p): // No handler answers 417.
		reason = "the header Expect may only be 100-continue"
	default:
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.writer.unreadRequest(reason)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets the server close its side first, so that a caller that is still sending can read the response.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// unreadRequest is the whole response to a request that no handler reads.
func (p Writer) unreadRequest(reason string) []byte {
	const idLen = 16
	id := make([]byte, idLen)
	_, _ = rand.Read(id) // It never fails.
	requestID := hex.EncodeToString(id)
	body := p.Body(requestID, problem.Invalid(problem.Violation{Code: problem.FieldInvalid, Message: reason}))
	return fmt.Appendf(nil, "HTTP/1.1 400 Bad Request\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nRequest-Id: %s\r\nConnection: close\r\n\r\n%s",
		contentType, len(body), requestID, body)
}

// AbortIfCallerLeft aborts a request, by a panic that package net/http knows, if it failed only because its caller has left: what
// it was waiting for was cancelled with it. There is nobody to answer. Another error that comes at the same time is answered as
// usual, so that it counts as a failure of the platform.
func AbortIfCallerLeft(ctx context.Context, err error) {
	cancelled := errors.Is(err, context.Canceled) || rpc.WasCanceled(err)
	if cancelled && errors.Is(ctx.Err(), context.Canceled) {
		panic(http.ErrAbortHandler)
	}
}
