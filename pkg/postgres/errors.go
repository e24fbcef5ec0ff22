package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATE values the platform acts on.
const (
	stateUniqueViolation      = "23505"
	stateSerializationFailure = "40001"
	stateDeadlockDetected     = "40P01"
	stateIdleInTransaction    = "25P03"
	// These two matter to migrations only.
	stateLockNotAvailable      = "55P03"
	stateInsufficientPrivilege = "42501"
	// A replica that is not promoted yet refuses to write, and to say where it writes.
	stateReadOnly          = "25006"
	stateNotInPrerequisite = "55000"
	classConnection        = "08"
	classOperator          = "57"
	classResources         = "53"
	classData              = "22"
)

// UniqueViolation returns the name of the constraint that err violates.
func UniqueViolation(err error) (constraint string, ok bool) {
	if pe, found := errors.AsType[*pgconn.PgError](err); found && pe.Code == stateUniqueViolation {
		return pe.ConstraintName, true
	}
	return "", false
}

// State returns the SQLSTATE of err, or the empty string.
func State(err error) string {
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pe.Code
	}
	return ""
}

// InvalidData reports whether err means that a value is not of the type or in the range that the statement needs.
func InvalidData(err error) bool { return strings.HasPrefix(State(err), classData) }

// Retryable reports whether the same transaction may succeed when run again.
func Retryable(err error) bool {
	state := State(err)
	return state == stateSerializationFailure || state == stateDeadlockDetected
}

// Unavailable reports whether err means that the database cannot be reached or does not work now. It is false if the database
// refused the statement.
func Unavailable(err error) bool {
	// The server may have refused the connection, for example because the database is being restored and does not exist.
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		class := pe.Code[:2]
		return class == classConnection || class == classOperator || class == classResources ||
			pe.Code == stateIdleInTransaction || pe.Code == stateReadOnly || pe.Code == stateNotInPrerequisite
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	// A broken connection shows as one of these, depending on when it was noticed.
	return pgconn.Timeout(err) || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}
