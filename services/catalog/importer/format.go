package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// Format of a file.
type Format string

// The formats.
const (
	JSON   Format = "json"
	NDJSON Format = "ndjson"
	CSV    Format = "csv"
)

// ErrFormat is the error of an unknown format.
var ErrFormat = errors.New("the format must be json, ndjson or csv")

// FormatOf derives the format from the name of a file.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		return JSON, nil
	case ".ndjson", ".jsonl":
		return NDJSON, nil
	case ".csv":
		return CSV, nil
	}
	return "", fmt.Errorf("%w; the name %q does not say which", ErrFormat, path)
}

// Read reads a file of the format. JSON that begins with an object is read as NDJSON.
func Read(file io.Reader, format Format) (Rows, error) {
	limiter := &rowLimiter{file: file}
	limiter.startRow()
	input := bufio.NewReaderSize(limiter, bufferSize)
	head, err := input.Peek(len(bom))
	if string(head) == bom {
		_, err = input.Discard(len(bom))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &FileError{Line: 1, Err: err}
	}
	switch format {
	case CSV:
		return newTable(limiter, input)
	case NDJSON:
		return &ndjson{limiter: limiter, input: input}, nil
	case JSON:
		if beginsWithObject(input) {
			return &ndjson{limiter: limiter, input: input}, nil
		}
		return newArray(limiter, input), nil
	}
	return nil, ErrFormat
}

func beginsWithObject(input *bufio.Reader) bool {
	_, _ = input.Peek(1) // Peek fills the buffer. Next reports its error.
	head, _ := input.Peek(input.Buffered())
	return strings.HasPrefix(strings.TrimLeft(string(head), space), "{")
}

const (
	bufferSize = 64 << 10
	bom        = "\uFEFF"
)

// rowLimiter bounds the bytes read for a row, so that an endless row does not fill the memory.
type rowLimiter struct {
	file      io.Reader
	remaining int
}

// startRow is called before each row. It allows MaxRow bytes, and those that the buffer reads ahead.
func (l *rowLimiter) startRow() { l.remaining = MaxRow + bufferSize }

// Read implements io.Reader.
func (l *rowLimiter) Read(p []byte) (int, error) {
	if l.remaining <= 0 {
		return 0, errRowTooLong
	}
	n, err := l.file.Read(p[:min(len(p), l.remaining)])
	l.remaining -= n
	return n, err
}

const (
	// MaxRow bounds a row in bytes.
	MaxRow = 1 << 20
	// MaxRows bounds a file. All its ids are held in memory.
	MaxRows = 1_000_000
)

// Row is a gift of a file. The gift of a row with violations is not complete.
type Row struct {
	// Line is where the row begins, counted from 1.
	Line       int
	Gift       *catalogv1.PutProductRequest
	Violations []problem.Violation
	// Size is the approximate size in bytes.
	Size int
}

// Rows reads a file row by row.
type Rows interface {
	// Next returns io.EOF after the last row, and a *FileError where the file cannot be read further.
	Next() (Row, error)
}

// FileError has the line from which a file cannot be read further.
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
