package restjson

import (
	"bytes"
	"sync"
)

// maxSpare is the size up to which a buffer is kept for the next use. A page of the API is below it.
const maxSpare = 256 << 10

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// buffer is scratch memory that several calls use one after the other.
type buffer struct{ bytes.Buffer }

func takeBuffer() *buffer { return buffers.Get().(*buffer) }

// keep makes b, into which the buffer's memory may have grown, the buffer's memory.
func (s *buffer) keep(b []byte) { s.Buffer = *bytes.NewBuffer(b[:0]) }

func (s *buffer) release() {
	s.Reset()
	if s.Cap() <= maxSpare {
		buffers.Put(s)
	}
}
