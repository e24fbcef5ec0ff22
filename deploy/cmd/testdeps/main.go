// Command testdeps runs PostgreSQL, Redis and Kafka for tests:
//
//	testdeps -- go test ./...            the servers live as long as the command
//	testdeps -durable -- go test -bench .
//	testdeps -up                         starts the servers in the background
//	testdeps -down                       stops the servers that -up started
//
// The command that testdeps runs finds the servers in the environment variables that package testenv names; after -up, tests find
// them in .local/test.env. If a variable is already set, its server is used and none is started. No data survives, so PostgreSQL
// does not wait for the disk, except with -durable, which is for benchmarks. The exit code is the command's.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	// usageError is the exit code for wrong arguments.
	usageError = 2
	// ownError is the exit code when testdeps fails itself: servers do not start or stop, or the command cannot be run.
	ownError = 125
)

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	local, err := localDir()
	if err != nil {
		log.Error("find the repository", "error", err)
		return ownError
	}
	switch {
	case len(args) == 1 && args[0] == "-up":
		err = up(ctx, local)
	case len(args) == 1 && args[0] == "-down":
		err = down(ctx, local)
	case len(args) == 1 && args[0] == serveFlag: // Not for users: up starts the process in the background with it.
		err = serve(ctx, local, log)
	default:
		return runWithServers(ctx, local, args, log)
	}
	if err != nil {
		log.Error("test servers", "error", err)
		return ownError
	}
	return 0
}

func runWithServers(ctx context.Context, local string, args []string, log *slog.Logger) int {
	durable := len(args) > 0 && args[0] == "-durable"
	if durable {
		args = args[1:]
	}
	if len(args) < 2 || args[0] != "--" {
		fmt.Fprintln(os.Stderr, "usage: testdeps [-durable] -- command [argument...] | -up | -down")
		return usageError
	}
	servers, err := start(ctx, local, durable, log)
	if err != nil {
		log.Error("start test servers", "error", err)
		return ownError
	}
	code, err := runCommand(ctx, args[1:], servers.environment())
	if err != nil {
		log.Error("command", "error", err)
	}
	if err := servers.stop(context.WithoutCancel(ctx)); err != nil {
		log.Error("stop test servers", "error", err)
		if code == 0 {
			code = ownError
		}
	}
	return code
}

// runCommand runs the command to its end and returns its exit code. When ctx ends, the command is interrupted, and killed if it
// still runs 20 seconds later. Both reach what it has started too: a shell does not pass signals on, and a script in the background
// ignores SIGINT. That is why the command has a process group of its own; so it cannot read from the terminal.
func runCommand(ctx context.Context, args, environment []string) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // Running it is the purpose.
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // It fails if all have ended.
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.Exited() {
		return failed.ExitCode(), nil
	}
	if err != nil {
		return ownError, err
	}
	return 0, nil
}
