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
	// CurrentStatus is the record's status, on not_editable and not_cancellable.
	CurrentStatus string
	// OrderID is the existing order, on external_order_id_conflict when the key can see it.
	OrderID string
	// RetryAfter is how long the caller should wait before it tries again; zero: not said.
	RetryAfter time.Duration
	// Instance is the request id of the occurrence. Set on an error that is stored for replay, so
	// that the replayed body equals the first.
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

// RecordNotFound is the one answer for a record that does not exist, belongs to another tenant or
// lies outside the key's brands, so that the three cannot be distinguished.
func RecordNotFound() *Error {
	return New(NotFound, "No such record is visible to this key.")
}

// Unavailable is the answer while a dependency is down.
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

// Is says whether err carries the code.
func Is(err error, code Code) bool {
	e, ok := As(err)
	return ok && e.Code == code
}
