package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

var (
	errNoArray  = errors.New("the file must be an array of objects, or one object in a line")
	errTrailing = errors.New("something follows the end of the array")
)

// array reads the objects of a JSON array.
type array struct {
	limiter *rowLimiter
	lines   *lineCounter
	json    *jsontext.Decoder
	opened  bool
}

// newArray accepts duplicate names and invalid text. They are errors of their row, not of the file.
func newArray(limiter *rowLimiter, input *bufio.Reader) *array {
	lines := &lineCounter{input: input}
	decoder := jsontext.NewDecoder(lines, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &array{limiter: limiter, lines: lines, json: decoder}
}

// Next implements Rows.
func (a *array) Next() (Row, error) {
	a.limiter.startRow()
	if !a.opened {
		if token, err := a.json.ReadToken(); err != nil || token.Kind() != '[' {
			return Row{}, a.fileError(err, errNoArray)
		}
		a.opened = true
	}
	if a.json.PeekKind() == ']' {
		return Row{}, a.readEnd()
	}
	value, err := a.json.ReadValue()
	if err != nil {
		return Row{}, a.fileError(err, nil)
	}
	line := a.lines.lineAt(a.json.InputOffset() - int64(len(value)))
	if len(value) > MaxRow {
		return Row{}, &FileError{Line: line, Err: errRowTooLong}
	}
	row := readJSON(value)
	row.Line = line
	return row, nil
}

func (a *array) readEnd() error {
	if _, err := a.json.ReadToken(); err != nil {
		return a.fileError(err, nil)
	}
	if _, err := a.json.ReadToken(); !errors.Is(err, io.EOF) {
		return a.fileError(nil, errTrailing)
	}
	return io.EOF
}

// fileError returns the line where the file stops being JSON.
func (a *array) fileError(err, otherwise error) error {
	at, unread := a.json.InputOffset(), a.json.UnreadBuffer()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, err = syntax.ByteOffset, syntax.Err
	}
	switch {
	case errors.Is(err, errRowTooLong): // The row begins after space and comma.
		at += int64(len(unread) - len(bytes.TrimLeft(unread, space+",")))
		err = errRowTooLong
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = io.ErrUnexpectedEOF
	case err == nil:
		err = otherwise
	}
	return &FileError{Line: a.lines.lineAt(at), Err: err}
}

// lineCounter passes a text on and finds the line of an offset in it.
type lineCounter struct {
	input io.Reader
	// length is that of the text so far. lineAt has passed linesBefore line breaks; breaks are the offsets of the next ones.
	length      int64
	breaks      []int64
	linesBefore int
}

// Read implements io.Reader.
func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.input.Read(p)
	for i, c := range p[:n] {
		if c == '\n' {
			l.breaks = append(l.breaks, l.length+int64(i))
		}
	}
	l.length += int64(n)
	return n, err
}

// lineAt returns the line of an offset. Offsets must not decrease.
func (l *lineCounter) lineAt(offset int64) int {
	passed := 0
	for passed < len(l.breaks) && l.breaks[passed] < offset {
		passed++
	}
	l.breaks = append(l.breaks[:0], l.breaks[passed:]...)
	l.linesBefore += passed
	return l.linesBefore + 1
}

// ndjson reads one object in a line.
type ndjson struct {
	limiter *rowLimiter
	input   *bufio.Reader
	line    int
}

// Next implements Rows. It skips empty lines.
func (n *ndjson) Next() (Row, error) {
	for {
		n.limiter.startRow()
		n.line++
		text, err := n.input.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return Row{}, io.EOF
		}
		if len(text) > MaxRow {
			err = errRowTooLong
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return Row{}, &FileError{Line: n.line, Err: err}
		}
		if len(bytes.TrimLeft(text, space)) > 0 {
			row := readJSON(text)
			row.Line = n.line
			return row, nil
		}
	}
}

// space is the white space of JSON.
const space = " \t\r\n"

// readJSON reads a gift. The API ignores members that a message does not have, so that newer callers work. In a file they are
// mistakes: the intended member would become empty.
func readJSON(value []byte) Row {
	row := Row{Gift: &catalogv1.PutProductRequest{}, Size: len(value)}
	found := restjson.UnmarshalBody(value, row.Gift)
	row.Violations = found.Violations
	for _, path := range found.Ignored {
		row.Violations = append(row.Violations, invalid(path, "is not a member of a gift"))
	}
	return row
}
