package postgres

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout ends a TCP connection whose other end has not acknowledged what was sent, or a probe, for so long.
func setUserTimeout(fd uintptr, after time.Duration) error {
	err := unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
	return os.NewSyscallError("set TCP_USER_TIMEOUT", err)
}
