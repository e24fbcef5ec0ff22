package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

var errRuns = errors.New("another stack runs in this folder")

// lock holds the folder until the file is closed or the process ends, however it ends.
func lock(dir string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(dir, "stack.lock"), os.O_CREATE|os.O_RDWR, private) //nolint:gosec // The stack's own folder.
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
