package deps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endOrphans stops the processes that an earlier, killed run left in the server's directory, and waits until they are gone.
// The caller holds the lock of the data directory, so these processes have no owner any more.
func (s server) endOrphans(ctx context.Context) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	signalled := map[int]bool{}
	for {
		pids, err := s.orphans(ctx)
		if err != nil {
			return fmt.Errorf("look for an earlier %s: %w", s.name, err)
		}
		if len(pids) == 0 {
			return s.forgetPID()
		}
		for _, pid := range pids {
			if signalled[pid] {
				continue
			}
			signalled[pid] = true
			if err := syscall.Kill(pid, s.quit); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop %s, process %d, left by an earlier run: %w", s.name, pid, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s, processes %v, left by an earlier run do not stop: %w", s.name, pids, ctx.Err())
		case <-ticker.C:
		}
	}
}

// proc lists the processes of a Linux machine.
const proc = "/proc"

// orphans returns the processes of this program that work in its directory. Unlike the number in a pid file, which may belong
// to another program by now, this identifies them reliably, and it finds PostgreSQL's own children too. Without /proc only the
// pid file can be used.
func (s server) orphans(ctx context.Context) ([]int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return s.recordedPID(ctx)
	}
	dir, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(s.path)
	name = name[:min(len(name), 15)] // The kernel cuts names there.
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// If cwd or comm cannot be read, the process has ended, or it belongs to another user and so is not ours.
		cwd, _ := os.Readlink(filepath.Join(proc, entry.Name(), "cwd"))
		comm, _ := os.ReadFile(filepath.Join(proc, entry.Name(), "comm"))
		if cwd == dir && strings.TrimSpace(string(comm)) == name {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// recordedPID returns the process named in the pid file if it lives and has the name of the program.
func (s server) recordedPID(ctx context.Context) ([]int, error) {
	text, err := os.ReadFile(s.pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return nil, nil
	}
	// ps fails if the process has ended. On some systems it writes the path of the program.
	name, err := exec.CommandContext(ctx, "ps", "-p", strconv.Itoa(pid), "-o", "comm=").Output() //nolint:gosec // A number.
	if err != nil || filepath.Base(strings.TrimSpace(string(name))) != filepath.Base(s.path) {
		return nil, nil
	}
	return []int{pid}, nil
}

// forgetPID removes the pid file when no process of the program is left: otherwise PostgreSQL could mistake another program
// with the same number for a running server.
func (s server) forgetPID() error {
	// Without /proc the children of PostgreSQL are found only by its file.
	if _, err := os.Stat(proc); err != nil && s.writesPID {
		return nil
	}
	if err := os.Remove(s.pidFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the pid file of %s: %w", s.name, err)
	}
	return nil
}

// recordPID writes the pid file of a server that does not write one itself.
func (s server) recordPID(pid int) error {
	if s.writesPID {
		return nil
	}
	return os.WriteFile(s.pidFile, []byte(strconv.Itoa(pid)+"\n"), 0o600)
}
