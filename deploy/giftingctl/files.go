package giftingctl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

var (
	errChangeable = errors.New("others may change it, so its addresses cannot be trusted: chmod 600")
	errReadable   = errors.New("others may read this private key: chmod 600")
	errNoFile     = errors.New("is a link or a device: name a file, or leave it out to print")
)

// checkConfig refuses a file of contexts that others may change: they could name a server of their own.
func checkConfig(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("%s: %w", path, errChangeable)
	}
	return err
}

// checkKey refuses a private key of the user that others may read. One that another user owns, such as a mounted secret, is the
// responsibility of that user.
func checkKey(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if ok && int(owner.Uid) == os.Getuid() && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: %w", path, errReadable)
	}
	return nil
}

// checkReplaceable refuses to write to what is no file. Another user may have prepared a link.
func checkReplaceable(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s %w", path, errNoFile)
	}
	return nil // If anything else is wrong, writing says so.
}

// create makes a file that only its owner may read, in place of an existing one. It can be read while it grows.
func create(path string) (*os.File, error) {
	if err := checkReplaceable(path); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}
