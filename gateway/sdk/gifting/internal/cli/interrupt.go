package cli

import (
	"context"
	"io"
)

// interruptible is a reader of a terminal or pipe whose Read returns when the context ends. What is read after that is lost.
type interruptible struct {
	ctx  context.Context // The standard input lives as long as the command.
	from io.Reader
}

// Read implements io.Reader.
func (i interruptible) Read(p []byte) (int, error) {
	type result struct {
		read []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		buffer := make([]byte, len(p))
		n, err := i.from.Read(buffer)
		done <- result{buffer[:n], err}
	}()
	select {
	case r := <-done:
		return copy(p, r.read), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
