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

// meter bounds the bytes read for a row, so that an endless row does not fill the memory.
type meter struct {
	from io.Reader
	left int
}

// row allows the next row its bytes and those that the buffer reads ahead.
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

// open returns a buffered reader after the byte order mark.
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

// lines is a reader that counts lines.
type lines struct {
	from io.Reader
	// read is the number of bytes read. breaks are the offsets of the line breaks after the line that
	// was returned last.
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

// at returns the line of an offset. Offsets must not decrease.
func (l *lines) at(offset int64) int {
	i := 0
	for i < len(l.breaks) && l.breaks[i] < offset {
		i++
	}
	l.passed += i
	l.breaks = append(l.breaks[:0], l.breaks[i:]...)
	return l.passed + 1
}
