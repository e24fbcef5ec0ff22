// Package problems renders a fault as application/problem+json: the only place that does (API
// specification, section Errors).
package problems

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/partnergifting/platform/pkg/problem"
)

// ContentType of every error answer.
const ContentType = "application/problem+json"

// Writer renders problems. DocsURL is where their types are explained.
type Writer struct {
	DocsURL string
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

// Write answers with the problem. requestID becomes its instance, unless the problem is a stored
// one and has the instance of its first occurrence.
func (p Writer) Write(w http.ResponseWriter, requestID string, e *problem.Error) {
	status := problem.Lookup(e.Code).Status
	header := w.Header()
	header.Set("Content-Type", ContentType)
	header.Set("Cache-Control", "no-store")
	if e.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	if status == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	_, _ = w.Write(p.render(requestID, e))
}

func (p Writer) render(requestID string, e *problem.Error) []byte {
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
