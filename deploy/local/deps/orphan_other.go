//go:build !linux

package deps

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// orphans returns the process named in the pid file if it lives.
func (p program) orphans() ([]int, error) {
	text, err := os.ReadFile(p.pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 || syscall.Kill(pid, 0) != nil {
		return nil, nil
	}
	return []int{pid}, nil
}

// forgetPID keeps the file: PostgreSQL reads in it whether children of the dead server still hold its memory.
func (p program) forgetPID() error { return nil }

// recordPID writes the pid file of a server that writes none itself.
func (p program) recordPID(pid int) error {
	if p.writesPID {
		return nil
	}
	return os.WriteFile(p.pidFile, []byte(strconv.Itoa(pid)+"\n"), 0o600)
}
