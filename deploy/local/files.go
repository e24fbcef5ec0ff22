package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
