package importer

import (
	"bufio"
	"bytes"
	"strings"
)

// shortElements passes a JSON array on without the elements that are too long, and remembers these. In place of each it passes
// null. It leaves out the space between elements.
//
// Of an element that is too long only quotes and brackets are followed. If they cannot be right, its end is not known, so the file
// cannot be read further.
type shortElements struct {
	meter *meter
	from  *bufio.Reader
	// depth counts the open brackets. outside is set before and after the array, where nothing is left out.
	depth                    int
	quoted, escaped, outside bool
	// wrong is set if the element cannot be JSON.
	wrong bool
	// buffer is what is passed on next; its first bytes replace the space before the element.
	buffer []byte
	space  int
	rest   []byte
	// err comes after the rest.
	err error
	// read counts the line breaks read. lines knows those that were passed on.
	read  int
	lines *lines
	// tooLong are the offsets of the elements that were left out, in what was passed on.
	tooLong []int64
}

// Read implements io.Reader.
func (s *shortElements) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if s.outside {
			n, err := s.from.Read(p)
			s.lines.pass(p[:n])
			return n, err
		}
		s.err = s.next()
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next reads an element with the comma or bracket after it, or what is before the array.
func (s *shortElements) next() error {
	s.buffer, s.wrong = s.buffer[:0], false
	c, err := s.skipSpace()
	for ; err == nil; c, err = s.from.ReadByte() {
		if s.ends(c) {
			s.buffer = append(s.buffer, c)
			break
		}
		if len(s.buffer) == s.space+MaxRow {
			return s.leaveOut(c)
		}
		s.buffer = append(s.buffer, c)
	}
	text := s.buffer[s.space:]
	s.lines.pass(text)
	s.read += bytes.Count(text, []byte{'\n'})
	s.rest = s.buffer
	return err
}

// skipSpace returns the byte after the space, in place of which it passes one line break.
func (s *shortElements) skipSpace() (c byte, err error) {
	breaks := 0
	for {
		s.meter.row()
		if c, err = s.from.ReadByte(); err != nil || strings.IndexByte(" \t\r\n", c) < 0 {
			break
		}
		if c == '\n' {
			breaks++
		}
	}
	s.passBreaks(breaks)
	s.space = len(s.buffer)
	return c, err
}

// passBreaks passes one line break for any number of them.
func (s *shortElements) passBreaks(count int) {
	if count > 0 {
		s.buffer = append(s.buffer, '\n')
		s.lines.passBreaks(count)
		s.read += count
	}
}

// leaveOut skips the element in the buffer up to its end. c is the byte after the buffer.
func (s *shortElements) leaveOut(c byte) (err error) {
	began, breaks := s.read+1, bytes.Count(s.buffer[s.space:], []byte{'\n'})
	for end := false; !end && err == nil && !s.wrong; {
		if c == '\n' {
			breaks++
		}
		s.meter.row()
		if c, err = s.from.ReadByte(); err == nil {
			end = s.ends(c)
		}
	}
	if err != nil || s.wrong {
		return &FileError{Line: began, Err: errRowTooLong}
	}
	s.buffer = append(s.buffer[:s.space], "null"...)
	s.tooLong = append(s.tooLong, s.lines.passed)
	s.lines.pass(s.buffer[s.space:])
	s.passBreaks(breaks)
	s.buffer = append(s.buffer, c)
	s.lines.pass([]byte{c})
	s.rest = s.buffer
	return nil
}

// ends follows quotes and brackets over a byte. It reports whether that ends an element, begins the array or is outside of it.
func (s *shortElements) ends(c byte) bool {
	switch {
	case s.escaped:
		s.escaped = false
	case s.quoted:
		s.escaped, s.quoted = c == '\\', c != '"'
		s.wrong = s.wrong || c < ' '
	case c == ',':
		return s.depth == 1
	case c == '[' || c == '{':
		s.depth++
		return s.depth == 1
	case c == ']' || c == '}':
		s.depth--
		s.outside = s.depth <= 0
		return s.outside
	default:
		s.quoted = c == '"'
		s.wrong = s.wrong || strings.IndexByte("\" \t\r\n:+-.0123456789eEtrufalsn", c) < 0
		s.outside = s.depth == 0
		return s.outside
	}
	return false
}
