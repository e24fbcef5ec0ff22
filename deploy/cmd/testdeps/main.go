// Command testdeps runs another command with a PostgreSQL, a Redis and a Kafka that live as long as it does:
//
//	testdeps -- go test ./...
//	testdeps -durable -- go test -bench . ./...
//
// Nothing of it survives, so PostgreSQL does not wait for the disk, but with -durable, as in production: for what measures.
// The command finds them in GIFTING_TEST_POSTGRES_URL (a superuser's), GIFTING_TEST_REDIS_URL and
// GIFTING_TEST_KAFKA_BROKERS; GIFTING_TEST_KAFKA_KIND says which Kafka it is: apache, embedded or given. One that is
// set already is used as it is. The exit code is the command's.
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

// usageError is the exit code for a wrong call, startError for dependencies that do not start or stop.
const (
	usageError = 2
	startError = 125
)

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	durable := len(args) > 0 && args[0] == "-durable"
	if durable {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: testdeps [-durable] -- command [argument...]")
		return usageError
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))

	set, err := startSet(ctx, durable, log)
	if err != nil {
		log.Error("tests have nothing to run on", "error", err)
		return startError
	}
	code, err := runCommand(ctx, args, set.environment())
	if err != nil {
		log.Error("command", "error", err)
	}
	if err := set.stop(context.WithoutCancel(ctx)); err != nil {
		log.Error("stop dependencies", "error", err)
		if code == 0 {
			code = startError
		}
	}
	return code
}

// runCommand runs the command to its end. A signal to this process is passed on; the command then has a while to end.
func runCommand(ctx context.Context, args, environment []string) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // running it is the purpose
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	err := cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.Exited() {
		return failed.ExitCode(), nil
	}
	if err != nil {
		return startError, err
	}
	return 0, nil
}
