package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/partnergifting/platform/deploy/bootstrap"
)

// readJSON reads a file that may be missing.
func readJSON(path string, into any) error {
	content, err := os.ReadFile(path) //nolint:gosec // Below the stack's own folder.
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, value any) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return bootstrap.WriteFile(path, append(content, '\n'))
}

var errRuns = errors.New("another stack runs in this folder")

// lock locks the folder until the file is closed or the process ends.
func lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, "stack.lock")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, bootstrap.Private) //nolint:gosec // The stack's own folder.
	if err != nil {
		return nil, fmt.Errorf("lock the folder: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errRuns
	}
	return nil, fmt.Errorf("%s: %w", dir, err)
}

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

// lineHandler is a slog handler for people: the message, followed by its attributes.
type lineHandler struct {
	lock  *sync.Mutex
	out   io.Writer
	attrs []slog.Attr
}

func newLineLog(out io.Writer) *slog.Logger {
	return slog.New(lineHandler{lock: new(sync.Mutex), out: out})
}

// Enabled leaves out debug messages.
func (l lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle writes one line.
func (l lineHandler) Handle(_ context.Context, record slog.Record) error {
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
func (l lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.attrs = append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)
	return l
}

// WithGroup ignores the group.
func (l lineHandler) WithGroup(string) slog.Handler { return l }
