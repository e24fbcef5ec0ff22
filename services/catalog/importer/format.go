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
	m := &meter{input: file}
	m.row()
	from := bufio.NewReaderSize(m, bufferSize)
	head, err := from.Peek(len(bom))
	if string(head) == bom {
		_, err = from.Discard(len(bom))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &FileError{Line: 1, Err: err}
	}
	switch format {
	case CSV:
		return newTable(m, from)
	case NDJSON:
		return &ndjson{meter: m, input: from}, nil
	case JSON:
		if beginsWithObject(from) {
			return &ndjson{meter: m, input: from}, nil
		}
		return newArray(m, from), nil
	}
	return nil, ErrFormat
}

func beginsWithObject(from *bufio.Reader) bool {
	_, _ = from.Peek(1) // Peek fills the buffer. Next reports its error.
	head, _ := from.Peek(from.Buffered())
	return strings.HasPrefix(strings.TrimLeft(string(head), space), "{")
}

const (
	bufferSize = 64 << 10
	bom        = "\uFEFF"
)

// meter bounds the bytes read for a row, so that an endless row does not fill the memory.
type meter struct {
	input     io.Reader
	remaining int
}

// row allows the next row its bytes and those that the buffer reads ahead.
func (m *meter) row() { m.remaining = MaxRow + bufferSize }

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.remaining <= 0 {
		return 0, errRowTooLong
	}
	n, err := m.input.Read(p[:min(len(p), m.remaining)])
	m.remaining -= n
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
