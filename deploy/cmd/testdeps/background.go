package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/testenv"
)

const (
	// serveFlag makes testdeps the process in the background.
	serveFlag = "-serve"
	// pidLine is the first line of test.env. It names the process in the background.
	pidLine = "# testdeps %d\n"
	// firstStart bounds a start that installs servers.
	firstStart   = 10 * time.Minute
	pollInterval = 100 * time.Millisecond
)

func envFile(local string) string { return filepath.Join(filepath.Dir(local), testenv.File) }

// process returns the process in the background, or 0. The file may be of an earlier one: its number counts only while the lock is
// held, because another program may have it by now.
func process(local string) int {
	var pid int
	text, err := os.ReadFile(envFile(local))
	if err == nil {
		_, err = fmt.Sscanf(string(text), pidLine, &pid)
	}
	if err != nil {
		return 0
	}
	held, err := lock(local)
	if !errors.Is(err, deps.ErrLocked) {
		_ = held.Close()
		return 0
	}
	return pid
}

// lock takes what the process in the background holds as long as it lives.
func lock(local string) (*os.File, error) { return deps.Lock(filepath.Join(local, "test.lock")) }

// removeOld removes the file of an earlier process that was killed.
func removeOld(local string) error {
	held, err := lock(local)
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	return os.RemoveAll(envFile(local))
}

var errBackground = errors.New("the servers did not start, see .local/test.log")

// up starts the process in the background, unless it runs, and returns when the servers are up.
func up(ctx context.Context, local string) error {
	if pid := process(local); pid != 0 {
		fmt.Println("the test servers are up, see .local/test.env")
		return nil
	}
	if err := os.MkdirAll(local, 0o755); err != nil { //nolint:gosec // The user of PostgreSQL has to pass through.
		return err
	}
	if err := removeOld(local); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(local, "test.log")) //nolint:gosec // In the repository's own folder.
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, serveFlag) //nolint:gosec // This program.
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, firstStart)
	defer cancel()
	for process(local) != cmd.Process.Pid {
		select {
		case err := <-exited:
			return errors.Join(errBackground, err)
		case <-ctx.Done():
			return errors.Join(ctx.Err(), cmd.Process.Signal(syscall.SIGTERM))
		case <-time.After(pollInterval):
		}
	}
	fmt.Println("the test servers are up: `go test` finds them in .local/test.env, `make deps-stop` stops them")
	return nil
}

// serve keeps the servers up and their addresses in test.env until ctx ends.
func serve(ctx context.Context, local string, log *slog.Logger) error {
	held, err := lock(local)
	if err != nil {
		return err
	}
	defer func() { _ = held.Close() }()
	s, err := start(ctx, local, false, log)
	if err != nil {
		return err
	}
	text := fmt.Sprintf(pidLine, os.Getpid()) + "export " + strings.Join(s.environment(), "\nexport ") + "\n"
	err = os.WriteFile(envFile(local)+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Rename(envFile(local)+".new", envFile(local))
	}
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, s.stop(context.WithoutCancel(ctx)), os.Remove(envFile(local)))
}

// down ends the process in the background and waits for it.
func down(ctx context.Context, local string) error {
	pid := process(local)
	if pid == 0 {
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*stopTimeout)
	defer cancel()
	for process(local) == pid {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
	return nil
}
