// Package httperror answers requests with errors, as application/problem+json. No other package renders them (API
// specification, section Errors).
package httperror

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/partnergifting/platform/pkg/problem"
)

const contentType = "application/problem+json"

// Writer renders errors. DocsURL is where their types are explained.
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

// Write answers with the error and returns its code. An error that is not of pkg/problem is an internal_error. The instance
// is the Request-Id that the response already has, or that of the first response when the error was stored.
func (p Writer) Write(ctx context.Context, w http.ResponseWriter, err error) problem.Code {
	e, ok := problem.As(err)
	if !ok {
		e = problem.Internal()
	}
	if e.Code == problem.InternalError || e.Code == problem.ServiceUnavailable {
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
	}
	w.WriteHeader(status)
	_, _ = w.Write(p.Body(header.Get("Request-Id"), e))
	return e.Code
}

// SetRetryAfter rounds up to whole seconds.
func SetRetryAfter(header http.Header, d time.Duration) {
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
}

// RateLimited asks the caller to wait, for a second at least.
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
	if err != nil { // A struct of strings and one int always encodes.
		return []byte(`{"code":"internal_error","status":500}`)
	}
	return raw
}
