// Package problem is the platform's one error type, from the rule that refuses a request to the application/problem+json body of
// the response (API specification, section Errors). Between services it travels as a gRPC status; only the gateway renders it as
// JSON. Any other error is an internal_error: its cause is logged where it happened and never shown.
package problem

import (
	"errors"
	"fmt"
	"time"
)

// Error is an error with a meaning for the caller. Its texts reach callers and logs, so they never hold personal data.
type Error struct {
	Code   Code
	Detail string
	// Violations are the field errors of an invalid_request, and of the 422 that name a field.
	Violations []Violation
	// CurrentStatus is the record's status, on not_editable, not_cancellable and precondition_failed.
	CurrentStatus string
	// OrderID is the existing order, on external_order_id_conflict when the key can see it.
	OrderID string
	// RetryAfter is how long the caller should wait before it tries again; zero: unknown.
	RetryAfter time.Duration
	// Instance is the request id of the occurrence. It is set on a stored error, so that the replayed body equals the first.
	Instance string
}

// New makes an error with a formatted detail.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid makes an invalid_request that lists violations.
func Invalid(violations ...Violation) *Error {
	return &Error{
		Code:       InvalidRequest,
		Detail:     "The request has invalid fields; see errors.",
		Violations: violations,
	}
}

// RecordNotFound is the error for a record that does not exist, belongs to another tenant or lies outside the key's brands, so
// that callers cannot distinguish the three.
func RecordNotFound() *Error {
	return New(NotFound, "No such record is visible to this key.")
}

// Unavailable is the error while a dependency is down.
func Unavailable() *Error {
	e := New(ServiceUnavailable, "The service is temporarily unavailable; try again.")
	e.RetryAfter = 2 * time.Second
	return e
}

// Error implements error.
func (e *Error) Error() string {
	return string(e.Code) + ": " + e.Detail
}

// As finds an *Error in err's chain.
func As(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}

// Is reports whether err carries the code.
func Is(err error, code Code) bool {
	e, ok := As(err)
	return ok && e.Code == code
}

// The field codes of the API.
const (
	FieldRequired                       = "required"
	FieldInvalid                        = "invalid"
	FieldTooLong                        = "too_long"
	FieldDuplicate                      = "duplicate"
	FieldNotEnabled                     = "not_enabled"
	FieldManagerNotFound                = "manager_not_found"
	FieldNotAllowedWithCatalogSelection = "not_allowed_with_catalog_selection"
	FieldEventsLost                     = "events_lost"
)

// Violation is one error in one field of a request.
type Violation struct {
	// Field is the path as the caller wrote it, such as items[0].budget.currency; empty for the whole body.
	Field string
	// Code is a field code of the API.
	Code string
	// Message is an English sentence without the offending value, which may be personal data.
	Message string
}
