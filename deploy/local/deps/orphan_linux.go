package deps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// orphans returns the processes of this program that work in its directory. Unlike the number in a pid file, which may
// belong to somebody else by now, that names them surely, and it finds PostgreSQL's own children too.
func (p program) orphans() ([]int, error) {
	dir, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		current, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if err != nil || current != dir {
			continue // gone meanwhile, or another user's and so not ours
		}
		if processName(pid) == kernelName(p.path) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func processName(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// kernelName is how the kernel calls a process of the program: the file's name, cut at 15 bytes.
func kernelName(path string) string {
	name := filepath.Base(path)
	return name[:min(len(name), 15)]
}

// forgetPID removes the pid file when no process of the program is left: PostgreSQL would otherwise take a stranger
// that got the old number for a living server.
func (p program) forgetPID() error {
	if err := os.Remove(p.pidFile); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("remove the pid file of an earlier %s: %w", p.name, err)
	}
	return nil
}

// recordPID has nothing to do: orphans are found by their directory.
func (p program) recordPID(int) error { return nil }
