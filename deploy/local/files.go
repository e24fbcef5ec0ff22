package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// private is the mode of files that hold secrets.
const private = 0o600

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
	return writeFile(path, append(content, '\n'))
}

// writeFile replaces the file atomically: a reader, also after a crash, sees the old content or the new.
func writeFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // After a success the file no longer exists.
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(private), file.Sync(), file.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}

var errRuns = errors.New("another stack runs in this folder")

// lock locks the folder until the file is closed or the process ends.
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
