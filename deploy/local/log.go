package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/partnergifting/platform/deploy/bootstrap"
)

// openLog opens the log of all parts and renames the log of the previous run.
func openLog(dir string) (*os.File, error) {
	path := filepath.Join(dir, "stack.log")
	if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open log: %w", err)
	}
	const flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	file, err := os.OpenFile(path, flags, bootstrap.Private) //nolint:gosec // Below the stack's own folder.
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return file, nil
}

// lines is a slog handler for people: the message, followed by its attributes.
type lines struct {
	lock  *sync.Mutex
	out   io.Writer
	attrs []slog.Attr
}

func newLines(out io.Writer) *slog.Logger { return slog.New(lines{lock: new(sync.Mutex), out: out}) }

// Enabled leaves out debug messages.
func (l lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes one line.
func (l lines) Handle(_ context.Context, record slog.Record) error {
	var details []string
	add := func(a slog.Attr) bool {
		details = append(details, a.Key+" "+a.Value.String())
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	record.Attrs(add)
	line := record.Message
	if record.Level >= slog.LevelWarn {
		line = record.Level.String() + ": " + line
	}
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	_, err := fmt.Fprintln(l.out, line)
	return err
}

// WithAttrs appends the attributes to every line.
func (l lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.attrs = append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)
	return l
}

// WithGroup ignores the group.
func (l lines) WithGroup(string) slog.Handler { return l }
