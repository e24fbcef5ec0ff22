package deps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// dirLock holds a data directory. The kernel drops it with the process, however the process ends.
type dirLock struct {
	file *os.File
}

var errDirInUse = errors.New("another process runs on this data directory")

func lockDir(dir string) (*dirLock, error) {
	return lockWith(dir, syscall.LOCK_EX|syscall.LOCK_NB)
}

// waitForDir is lockDir for work that several processes may want to do at the same time.
func waitForDir(dir string) (*dirLock, error) {
	return lockWith(dir, syscall.LOCK_EX)
}

func lockWith(dir string, how int) (*dirLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the directory is the caller's choice
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return &dirLock{file: file}, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errDirInUse
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}

func (l *dirLock) release() {
	_ = l.file.Close()
}
