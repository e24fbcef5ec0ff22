package daemon

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	barWidth     = 30
	drawInterval = 100 * time.Millisecond
)

// ProgressBar shows in one line of a terminal how far long work is.
type ProgressBar struct {
	w     io.Writer
	unit  string
	done  int
	total int

	drawnAt  time.Time
	finished bool
}

// NewProgressBar makes a bar on a terminal. It shows the share of the total or, if that is zero, how many are done. The unit comes
// after it, such as "bytes written".
func NewProgressBar(w io.Writer, unit string, total int) *ProgressBar {
	return &ProgressBar{w: w, unit: unit, total: total}
}

// OnTerminal is where a bar goes: w if it is a terminal, otherwise nowhere.
func OnTerminal(w io.Writer) io.Writer {
	if isTerminal(w) {
		return w
	}
	return io.Discard
}

// ProgressLines is where lines about the progress go: w, unless a bar is drawn there.
func ProgressLines(w io.Writer) io.Writer {
	if isTerminal(w) {
		return io.Discard
	}
	return w
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Add counts n more as done.
func (b *ProgressBar) Add(n int) {
	if b == nil {
		return
	}
	b.done += n
	if now := time.Now(); now.Sub(b.drawnAt) >= drawInterval {
		b.drawnAt = now
		b.draw()
	}
}

// Done is how many are done.
func (b *ProgressBar) Done() int { return b.done }

func (b *ProgressBar) draw() {
	if b.total == 0 {
		_, _ = fmt.Fprintf(b.w, "\r%d %s", b.done, b.unit)
		return
	}
	done := min(b.done, b.total) // The total may be an estimate.
	full := done * barWidth / b.total
	bar := strings.Repeat("=", full) + strings.Repeat(" ", barWidth-full)
	_, _ = fmt.Fprintf(b.w, "\r[%s] %3d %% %s", bar, done*100/b.total, b.unit)
}

// End leaves the last state on its line. Only the first call counts.
func (b *ProgressBar) End() {
	if b != nil && !b.finished {
		b.finished = true
		b.draw()
		_, _ = io.WriteString(b.w, "\n")
	}
}
