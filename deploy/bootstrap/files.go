package bootstrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Private is the mode of files that hold secrets, privateFolder that of their folders.
const (
	Private       = 0o600
	privateFolder = 0o700
)

// WriteFile replaces a file that only its owner may read. A reader, also after a crash, sees the old content or the new.
func WriteFile(path string, content []byte) error { return write(path, content, os.Rename) }

// createFile writes a file that only its owner may read. It fails with fs.ErrExist if there is one, also if another process made it
// at this moment. After a crash there is the whole file or none.
func createFile(path string, content []byte) error { return write(path, content, os.Link) }

// write writes a file beside the path and moves it there.
func write(path string, content []byte, move func(from, to string) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // A file that was renamed no longer exists.
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(Private), file.Sync(), file.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return move(file.Name(), path)
}

// lockFolder waits until no other process has the lock of the folder. Closing the folder, or the end of the process, frees it.
func lockFolder(dir string) (*os.File, error) {
	folder, err := os.Open(dir) //nolint:gosec // The user names the folder.
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), folder.Close())
	}
	return folder, nil
}
