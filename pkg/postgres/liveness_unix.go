//go:build linux || darwin

package postgres

import (
	"errors"
	"syscall"
)

// nothingToRead reports whether a read of the socket would wait: the other end has neither sent anything nor closed it.
func nothingToRead(fd uintptr) bool {
	_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return errors.Is(err, syscall.EAGAIN)
}
