package importer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"io"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// shortRows passes CSV on without the rows that are too long, and remembers these. In place of each of their lines it passes an
// empty line, which is no row but counts as a line.
//
// A row ends with a line that does not end inside quotes. If a row that is too long is not valid CSV, its end is not known, so the
// file cannot be read further.
type shortRows struct {
	meter *meter
	from  *bufio.Reader
	// lines counts the lines read.
	lines int
	// rest is what is left to pass on, after a number of empty lines.
	rest   []byte
	empty  int
	buffer []byte
	// tooLong are the first lines of the rows that were left out.
	tooLong []int
}

// Read implements io.Reader.
func (s *shortRows) Read(p []byte) (int, error) {
	if len(s.rest) == 0 && s.empty == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	if n := min(s.empty, len(p)); n > 0 {
		s.empty -= n
		return copy(p, bytes.Repeat([]byte{'\n'}, n)), nil
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads the next row.
func (s *shortRows) next() error {
	s.meter.row()
	s.buffer = s.buffer[:0]
	quoted := false
	for {
		part, err := s.from.ReadSlice('\n')
		s.buffer = append(s.buffer, part...)
		quoted = quoted != odd(part)
		switch {
		case len(s.buffer) > MaxRow:
			return s.leaveOut(err)
		case errors.Is(err, bufio.ErrBufferFull), err == nil && quoted:
		case errors.Is(err, io.EOF) && len(s.buffer) > 0:
			s.pass()
			return nil
		case err != nil:
			return err
		default:
			s.pass()
			return nil
		}
	}
}

// pass passes the row in the buffer.
func (s *shortRows) pass() {
	s.rest = s.buffer
	s.lines += bytes.Count(s.buffer, []byte{'\n'})
}

// leaveOut skips the row in the buffer up to its end. err is how the last part of it was read.
func (s *shortRows) leaveOut(err error) error {
	began, row := s.lines+1, &longRow{}
	text := s.buffer
	for {
		s.empty += bytes.Count(text, []byte{'\n'})
		if wrong := row.read(text); wrong != nil {
			return &FileError{Line: began, Err: wrong}
		}
		if err == nil && row.ended() || errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return &FileError{Line: began, Err: err}
		}
		s.meter.row()
		text, err = s.from.ReadSlice('\n')
	}
	if row.at == inQuotes {
		return &FileError{Line: began, Err: errRowTooLong}
	}
	s.lines += s.empty
	if err != nil { // The last line of the file has no line break.
		s.lines, s.empty = s.lines+1, s.empty+1
	}
	s.tooLong = append(s.tooLong, began)
	return nil
}

// odd reports whether the text has an odd number of quotes, so that it ends inside quotes if it began outside, and the reverse.
func odd(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }

// longRow checks the quotes of a row without holding it.
type longRow struct{ at int }

// Where in a row a byte is.
const (
	atBegin    = iota // of a cell
	inCell            // without quotes
	inQuotes          // of a cell
	afterQuote        // that ends the cell, unless another one follows
)

// ended reports that the row ends with the line read last.
func (r *longRow) ended() bool { return r.at != inQuotes }

// read reads the next part of the row. Its errors are those that package csv would have returned.
func (r *longRow) read(text []byte) error {
	for _, c := range text {
		switch {
		case r.at == inQuotes:
			if c == '"' {
				r.at = afterQuote
			}
		case c == '"' && r.at == inCell:
			return csv.ErrBareQuote
		case c == '"':
			r.at = inQuotes
		case c == ',' || c == '\n':
			r.at = atBegin
		case c == '\r': // A line break follows it.
		case r.at == afterQuote:
			return csv.ErrQuote
		default:
			r.at = inCell
		}
	}
	return nil
}

// tooLongRow is the row of a line that was left out.
func tooLongRow(line int) Row {
	return Row{
		Line: line, Gift: &catalogv1.PutProductRequest{}, Violations: []problem.Violation{invalid("", "has more than 1 MiB")},
	}
}
