package kafka

import (
	"fmt"
	"iter"
)

// limits bound one record batch, so that a broker with default settings (message.max.bytes of 1 MiB) takes it.
type limits struct {
	messages int
	bytes    int
}

var defaultLimits = limits{messages: 1000, bytes: 900_000}

const (
	// recordOverhead is more than the length fields of one record take.
	recordOverhead = 64
	headerOverhead = 10
)

func size(m Message) int {
	n := recordOverhead + len(m.Key) + len(m.Value)
	for _, h := range m.Headers {
		n += headerOverhead + len(h.Key) + len(h.Value)
	}
	return n
}

// check refuses messages that cannot be written, before any of them is.
func (l limits) check(msgs []Message) error {
	for i, m := range msgs {
		if len(m.Key) == 0 {
			return fmt.Errorf("%w (message %d)", ErrNoKey, i)
		}
		if n := size(m); n > l.bytes {
			return fmt.Errorf("%w (message %d: %d bytes, at most %d)", ErrTooLarge, i, n, l.bytes)
		}
	}
	return nil
}

// chunks cuts a partition's messages, in order, into slices that fit one record batch each.
func (l limits) chunks(msgs []Message) iter.Seq[[]Message] {
	return func(yield func([]Message) bool) {
		for len(msgs) > 0 {
			n, bytes := 0, 0
			for n < len(msgs) && n < l.messages {
				bytes += size(msgs[n])
				if n > 0 && bytes > l.bytes {
					break
				}
				n++
			}
			if !yield(msgs[:n:n]) {
				return
			}
			msgs = msgs[n:]
		}
	}
}
