package giftingctl

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const (
	barWidth    = 30
	barInterval = 100 * time.Millisecond
)

// bar shows the progress of long work in one line of a terminal. On anything else it shows nothing.
type bar struct {
	to    io.Writer
	what  string
	done  int
	total int // zero: unknown

	drawn time.Time
	ended bool
}

func (a *app) bar(what string, total int) *bar {
	b := &bar{to: io.Discard, what: what, total: total}
	if a.Terminal {
		b.to = a.Err
	}
	return b
}

func (b *bar) add(n int) {
	b.done += n
	if now := time.Now(); now.Sub(b.drawn) >= barInterval {
		b.drawn = now
		b.draw()
	}
}

func (b *bar) draw() {
	if b.total == 0 {
		_, _ = fmt.Fprintf(b.to, "\r%d bytes %s", b.done, b.what)
		return
	}
	full := min(barWidth, b.done*barWidth/b.total)
	_, _ = fmt.Fprintf(b.to, "\r[%s%s] %3d %% %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), b.done*100/b.total, b.what)
}

// end leaves the last state on its line. Only the first call counts.
func (b *bar) end() {
	if !b.ended {
		b.ended = true
		b.draw()
		_, _ = io.WriteString(b.to, "\n")
	}
}
