package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// shortLines passes CSV on without the lines that are too long to be a row, and remembers these. In place of each it passes an
// empty line, which is no row but counts as a line.
//
// A line that begins or ends inside quotes is part of a row of several lines. It is never left out: if a quote is not closed, all
// that follows would be left out with it.
type shortLines struct {
	meter *meter
	from  *bufio.Reader
	// line counts the lines read. rest is what is left to pass on, which ends inside quotes if quoted is set.
	line   int
	rest   []byte
	quoted bool
	buffer []byte
	// tooLong are the lines that were left out.
	tooLong []int
}

// Read implements io.Reader.
func (s *shortLines) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads the next line, or a part of it if it begins inside quotes.
func (s *shortLines) next() error {
	if s.quoted {
		part, err := s.from.ReadSlice('\n')
		return s.pass(part, err)
	}
	s.meter.row()
	s.buffer = s.buffer[:0]
	for {
		part, err := s.from.ReadSlice('\n')
		s.buffer = append(s.buffer, part...)
		switch {
		case len(s.buffer) > MaxRow:
			return s.leaveOut(err)
		case !errors.Is(err, bufio.ErrBufferFull):
			return s.pass(s.buffer, err)
		}
	}
}

// pass passes text that was read, and after that the error with which it ended.
func (s *shortLines) pass(text []byte, err error) error {
	if errors.Is(err, bufio.ErrBufferFull) || len(text) > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	s.rest, s.quoted = text, s.quoted != odd(text)
	if bytes.HasSuffix(text, []byte{'\n'}) {
		s.line++
	}
	return err
}

// leaveOut skips the line in the buffer up to its end.
func (s *shortLines) leaveOut(err error) error {
	quoted := odd(s.buffer)
	for errors.Is(err, bufio.ErrBufferFull) {
		s.meter.row()
		var part []byte
		part, err = s.from.ReadSlice('\n')
		quoted = quoted != odd(part)
	}
	if quoted {
		return errRowTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	s.line++
	s.tooLong, s.rest = append(s.tooLong, s.line), []byte{'\n'}
	return nil
}

// odd reports whether the text has an odd number of quotes, so that it ends inside quotes if it began outside, and the reverse.
func odd(text []byte) bool { return bytes.Count(text, []byte{'"'})%2 == 1 }

// tooLongRow is the row of a line that was left out.
func tooLongRow(line int) Row {
	return Row{
		Line: line, Gift: &catalogv1.PutProductRequest{}, Violations: []problem.Violation{invalid("", "has more than 1 MiB")},
	}
}
