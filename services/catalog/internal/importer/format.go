package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
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
	m, from, err := open(file)
	if err != nil {
		return nil, &FileError{Line: 1, Err: err}
	}
	switch format {
	case CSV:
		return newTable(m, from)
	case NDJSON:
		return &ndjson{meter: m, from: from}, nil
	case JSON:
		if beginsWithObject(from) {
			return &ndjson{meter: m, from: from}, nil
		}
		return newArray(m, from), nil
	}
	return nil, ErrFormat
}

func beginsWithObject(from *bufio.Reader) bool {
	_, _ = from.Peek(1) // Fills the buffer. The rows report any error.
	head, _ := from.Peek(from.Buffered())
	return strings.HasPrefix(strings.TrimLeft(string(head), " \t\r\n"), "{")
}
