package gifting

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Problem is an error that the API answered with (RFC 9457). Branch on its Code.
type Problem struct { //nolint:errname // RFC 9457 names it so.
	// Type is the address of the cause and remedy of the code.
	Type string `json:"type"`
	// Title is a short label of the code.
	Title string `json:"title"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Code is the stable name of the error. Later versions of the API may have codes that are no constants here. It is empty if
	// something before the API answered, such as a proxy.
	Code Code `json:"code"`
	// Detail says what happened, in English. Not for parsing.
	Detail string `json:"detail"`
	// Errors are all invalid fields.
	Errors []FieldError `json:"errors"`
	// CurrentStatus of the record, on CodeNotEditable, CodeNotCancellable and CodePreconditionFailed.
	CurrentStatus string `json:"currentStatus"`
	// OrderID is the existing order on CodeExternalOrderIDConflict, if the key can see it.
	OrderID string `json:"orderId"`

	// RequestID names the request. Quote it when you ask about it.
	RequestID string `json:"-"`
	// RetryAfter is how long the server asks to wait, or 0.
	RetryAfter time.Duration `json:"-"`
	// Raw is the whole body, with the members that this type does not have.
	Raw []byte `json:"-"`
}

// Error implements error.
func (p *Problem) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s)", p.Title, strings.TrimSpace(string(p.Code)+" "+strconv.Itoa(p.Status)))
	if p.Detail != "" {
		text.WriteString(": " + p.Detail)
	}
	for _, field := range p.Errors {
		fmt.Fprintf(&text, "; %s: %s (%s)", field.Field, field.Message, field.Code)
	}
	return text.String()
}

// ProblemOf returns the problem that the API answered a call with.
func ProblemOf(err error) (*Problem, bool) { return errors.AsType[*Problem](err) }

// HasCode reports that the API answered a call with one of the codes.
func HasCode(err error, codes ...Code) bool {
	problem, ok := ProblemOf(err)
	return ok && slices.Contains(codes, problem.Code)
}

// FieldError returns the violation of a field.
func (p *Problem) FieldError(field string) (FieldError, bool) {
	at := slices.IndexFunc(p.Errors, func(e FieldError) bool { return e.Field == field })
	if at < 0 {
		return FieldError{}, false
	}
	return p.Errors[at], true
}

// maxDetail is how much of an answer that is no problem is kept as its detail.
const maxDetail = 200

func problemOf(status int, header http.Header, body []byte) *Problem {
	p := &Problem{}
	if json.Unmarshal(body, p) != nil || p.Code == "" {
		p = &Problem{Detail: detailOf(status, header, body)}
	}
	p.Status = status
	if p.Title == "" {
		p.Title = http.StatusText(status)
	}
	p.RequestID, p.RetryAfter, p.Raw = header.Get("Request-Id"), retryAfter(header), body
	return p
}

// detailOf says what is known of an answer that is no problem: the API answers with one to every path under its base URL.
func detailOf(status int, header http.Header, body []byte) string {
	switch {
	case status == http.StatusNotFound:
		return "this is no address of the API: is the base URL complete, such as https://api.example.com/api/public/v1?"
	case strings.HasPrefix(header.Get("Content-Type"), "text/html"):
		return "" // The page of a proxy.
	}
	return strings.ToValidUTF8(string(body[:min(len(body), maxDetail)]), "")
}

// retryAfter reads seconds, as the API sends them, or a date, as proxies may.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	// One that is too large is read as the largest.
	if seconds, err := strconv.Atoi(value); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(max(seconds, 0), maxRetryAfter)) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(time.Until(at), 0), maxRetryAfter*time.Second)
}

// maxRetryAfter, in seconds, keeps a very large time from overflowing. It is longer than any call lasts.
const maxRetryAfter = 24 * 60 * 60

// CallError is a call that failed: Err is a [*Problem] if there was an answer, otherwise the reason why there was none.
type CallError struct {
	Method, Path string
	// Attempts is how often the call was sent.
	Attempts int
	// IdempotencyKey of a POST. Without an answer the effect may have happened: call again with this key, by
	// [WithIdempotencyKey], to get the answer without a second effect.
	IdempotencyKey string
	Err            error
}

// Error implements error.
func (e *CallError) Error() string { return e.Method + " " + e.Path + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// Code is the stable name of an error.
type Code string

// The codes of this version. docs/errors at the base URL has the cause and remedy of each.
const (
	CodeInvalidRequest               Code = "invalid_request"
	CodeIdempotencyKeyRequired       Code = "idempotency_key_required"
	CodeIdempotencyKeyInvalid        Code = "idempotency_key_invalid"
	CodeInvalidAPIKey                Code = "invalid_api_key"
	CodeInsufficientScope            Code = "insufficient_scope"
	CodeNotFound                     Code = "not_found"
	CodeMethodNotAllowed             Code = "method_not_allowed"
	CodeNotAcceptable                Code = "not_acceptable"
	CodeIdempotencyRequestInProgress Code = "idempotency_request_in_progress"
	CodeOutOfStock                   Code = "out_of_stock"
	CodeExternalOrderIDConflict      Code = "external_order_id_conflict"
	CodeNotEditable                  Code = "not_editable"
	CodeNotCancellable               Code = "not_cancellable"
	CodeVersionConflict              Code = "version_conflict"
	CodePayloadTooLarge              Code = "payload_too_large"
	CodeUnsupportedMediaType         Code = "unsupported_media_type"
	CodeIdempotencyKeyReused         Code = "idempotency_key_reused"
	CodeBrandRequired                Code = "brand_required"
	CodeBrandNotFound                Code = "brand_not_found"
	CodeBrandCampaignMismatch        Code = "brand_campaign_mismatch"
	CodeCampaignNotFound             Code = "campaign_not_found"
	CodeCampaignNotActive            Code = "campaign_not_active"
	CodeProductNotInCampaign         Code = "product_not_in_campaign"
	CodeProductNotAvailable          Code = "product_not_available"
	CodeProductNotFound              Code = "product_not_found"
	CodeNotDeliverableToCountry      Code = "not_deliverable_to_country"
	CodeInvalidVariations            Code = "invalid_variations"
	CodeInvalidCustomFields          Code = "invalid_custom_fields"
	CodeManagerNotFound              Code = "manager_not_found"
	CodeCountryChangeNotAllowed      Code = "country_change_not_allowed"
	CodeNoProducts                   Code = "no_products"
	CodeNoRecipients                 Code = "no_recipients"
	CodeTooManyRecipients            Code = "too_many_recipients"
	CodeRateLimited                  Code = "rate_limited"
	CodeInternalError                Code = "internal_error"
	CodeServiceUnavailable           Code = "service_unavailable"
	CodeRangeNotSatisfiable          Code = "range_not_satisfiable"
	CodeTooManyMessages              Code = "too_many_messages"
	CodePreconditionFailed           Code = "precondition_failed"
	CodeReplayTooLarge               Code = "replay_too_large"
)
