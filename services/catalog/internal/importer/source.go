package importer

import (
	"bufio"
	"bytes"
	"io"
)

const (
	bufferSize = 64 << 10
	bom        = "\uFEFF"
)

// meter bounds what is read between two rows, so that a row without end does not fill the memory.
type meter struct {
	from io.Reader
	left int
}

// row grants the next row its bytes. What is read ahead is granted beside them.
func (m *meter) row() { m.left = MaxRow + bufferSize }

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errRowTooLong
	}
	n, err := m.from.Read(p[:min(len(p), m.left)])
	m.left -= n
	return n, err
}

// open gives a buffered reader behind the byte order mark.
func open(file io.Reader) (*meter, *bufio.Reader, error) {
	m := &meter{from: file}
	m.row()
	buffered := bufio.NewReaderSize(m, bufferSize)
	head, err := buffered.Peek(len(bom))
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	if string(head) == bom {
		_, err = buffered.Discard(len(bom))
		return m, buffered, err
	}
	return m, buffered, nil
}

// lines counts the lines of what is read through it.
type lines struct {
	from io.Reader
	// read is how many bytes were read; breaks are the offsets of the line breaks behind the last
	// line asked for, in order.
	read   int64
	breaks []int64
	passed int
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	for at := 0; ; at++ {
		next := bytes.IndexByte(p[at:n], '\n')
		if next < 0 {
			break
		}
		at += next
		l.breaks = append(l.breaks, l.read+int64(at))
	}
	l.read += int64(n)
	return n, err
}

// at gives the line of an offset, which must not be before one asked for earlier.
func (l *lines) at(offset int64) int {
	i := 0
	for i < len(l.breaks) && l.breaks[i] < offset {
		i++
	}
	l.passed += i
	l.breaks = append(l.breaks[:0], l.breaks[i:]...)
	return l.passed + 1
}
