package giftingctl

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

var (
	errChangeable = errors.New("others may change it, so its addresses cannot be trusted: chmod 600")
	errReadable   = errors.New("others may read this private key: chmod 600")
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
