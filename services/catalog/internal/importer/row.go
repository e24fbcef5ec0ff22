package importer

import (
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// MaxRow bounds a row in bytes.
	MaxRow = 1 << 20
	// MaxRows bounds a file. All its ids are held in memory.
	MaxRows = 1_000_000
)

// Row is a gift of a file. The gift of a row with violations is not complete.
type Row struct {
	// Line the row begins in, from 1.
	Line       int
	Gift       *catalogv1.PutProductRequest
	Violations []problem.Violation
	// Size in bytes, about.
	Size int
}

// Rows reads a file row by row.
type Rows interface {
	// Next returns io.EOF after the last row, and a *FileError where the file cannot be read further.
	Next() (Row, error)
}

// FileError is the line from which a file cannot be read further.
type FileError struct {
	Line int
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

var errRowTooLong = errors.New("a row has more than 1 MiB; is a quote or bracket not closed?")

func invalid(field, message string) problem.Violation {
	return problem.Violation{Field: field, Code: problem.FieldInvalid, Message: message}
}
