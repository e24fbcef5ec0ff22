package importer

import (
	"bufio"
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

// lines knows the lines of offsets in a text that is passed on in parts.
type lines struct {
	// passed is the length of the text so far. breaks are its line breaks after the line that was returned last.
	passed int64
	breaks []lineBreak
	before int
}

// lineBreak is one line break in the text, in place of a number of them in the file.
type lineBreak struct {
	offset int64
	count  int
}

// pass notes a part of the text.
func (l *lines) pass(text []byte) {
	for i, c := range text {
		if c == '\n' {
			l.breaks = append(l.breaks, lineBreak{l.passed + int64(i), 1})
		}
	}
	l.passed += int64(len(text))
}

// passBreaks notes one line break in place of a number of them.
func (l *lines) passBreaks(count int) {
	l.breaks = append(l.breaks, lineBreak{l.passed, count})
	l.passed++
}

// at returns the line of an offset. Offsets must not decrease.
func (l *lines) at(offset int64) int {
	i := 0
	for i < len(l.breaks) && l.breaks[i].offset < offset {
		l.before += l.breaks[i].count
		i++
	}
	l.breaks = append(l.breaks[:0], l.breaks[i:]...)
	return l.before + 1
}
