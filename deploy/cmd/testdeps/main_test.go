package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/testenv"
)

// setGiven sets addresses that nothing listens on, so that no server is started.
func setGiven(t *testing.T) {
	t.Helper()
	t.Setenv(testenv.PostgresURL, "postgres://given")
	t.Setenv(testenv.RedisURL, "redis://given")
	t.Setenv(testenv.KafkaBrokers, "given:9092")
	t.Setenv(testenv.KafkaKind, "apache")
}

func TestRun(t *testing.T) { //nolint:paralleltest // It sets the environment.
	t.Run("the exit code is the command's", func(t *testing.T) {
		setGiven(t)
		require.Equal(t, 0, run([]string{"--", "true"}))
		require.Equal(t, 7, run([]string{"--", "sh", "-c", "exit 7"}))
	})

	t.Run("PostgreSQL can be durable", func(t *testing.T) {
		setGiven(t)
		require.Equal(t, 7, run([]string{"-durable", "--", "sh", "-c", "exit 7"}))
		require.Equal(t, usageError, run([]string{"-durable"}))
	})

	t.Run("the command finds its dependencies in the environment", func(t *testing.T) {
		setGiven(t)
		found := filepath.Join(t.TempDir(), "found")
		script := `echo "$GIFTING_TEST_POSTGRES_URL $GIFTING_TEST_REDIS_URL $GIFTING_TEST_KAFKA_BROKERS $GIFTING_TEST_KAFKA_KIND" > ` +
			found
		require.Equal(t, 0, run([]string{"--", "sh", "-c", script}))
		text, err := os.ReadFile(found)
		require.NoError(t, err)
		require.Equal(t, "postgres://given redis://given given:9092 apache\n", string(text))
	})

	t.Run("a command that does not exist and a missing command are errors of the call", func(t *testing.T) {
		setGiven(t)
		require.Equal(t, ownError, run([]string{"--", "/no/such/command"}))
		require.Equal(t, usageError, run([]string{"--"}))
	})

	t.Run("a command is interrupted when the run is", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		code, err := runCommand(ctx, []string{"sh", "-c", "trap 'exit 3' INT; while :; do :; done"}, nil)
		require.NoError(t, err)
		require.Equal(t, 3, code)
	})

	t.Run("what the command has started is interrupted with it", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pipe := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
		ended := make(chan error, 1)
		go func() {
			reader, err := os.Open(pipe)
			if err == nil {
				_, err = reader.Read(make([]byte, len("running")))
				cancel()
			}
			if err == nil {
				_, err = reader.Read(make([]byte, 1)) // It returns when the last process that can write has ended.
			}
			ended <- err
		}()
		_, err := runCommand(ctx, []string{"sh", "-c", `sh -c 'printf running; exec sleep 60' > "$0"; true`, pipe}, nil)
		require.ErrorContains(t, err, "signal: interrupt")
		select {
		case err := <-ended:
			require.ErrorIs(t, err, io.EOF)
		case <-time.After(10 * time.Second):
			require.Fail(t, "it goes on")
		}
	})
}

func TestSweepRemovesTheDirectoriesOfKilledRuns(t *testing.T) {
	t.Parallel()
	local := t.TempDir()
	living := filepath.Join(local, prefix+strconv.Itoa(os.Getpid()))
	dead := filepath.Join(local, prefix+"2147483647") // Above any process number.
	require.NoError(t, os.Mkdir(living, 0o700))
	require.NoError(t, os.Mkdir(dead, 0o700))
	require.NoError(t, sweep(local))
	require.DirExists(t, living)
	require.NoDirExists(t, dead)
}

func TestSweepLeavesTheDirectoriesOfOtherUsers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 { // The whole check runs as root, so there this is always tested.
		t.Skip("only root can give a directory to another user")
	}
	local := t.TempDir()
	dead := filepath.Join(local, prefix+"2147483647") // Above any process number.
	require.NoError(t, os.Mkdir(dead, 0o700))
	require.NoError(t, os.Chown(dead, 65534, 65534))
	require.NoError(t, sweep(local))
	require.DirExists(t, dead)
}

func TestBackgroundServersKeepTheirAddressesInAFile(t *testing.T) { //nolint:paralleltest // It sets the environment.
	setGiven(t)
	local := filepath.Join(t.TempDir(), ".local")
	require.NoError(t, os.Mkdir(local, 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, local, slog.New(slog.DiscardHandler)) }()
	require.Eventually(t, func() bool { return process(local) == os.Getpid() }, time.Minute, pollInterval)
	text, err := os.ReadFile(envFile(local))
	require.NoError(t, err)
	require.Contains(t, string(text), "\nexport GIFTING_TEST_POSTGRES_URL=postgres://given\n")
	require.NoError(t, up(t.Context(), local))
	require.ErrorIs(t, serve(t.Context(), local, slog.New(slog.DiscardHandler)), deps.ErrLocked)
	require.FileExists(t, envFile(local))
	cancel()
	require.NoError(t, <-done)
	require.Zero(t, process(local))
	require.NoError(t, down(t.Context(), local))
}

func TestANumberOfAnEarlierProcessIsNotSignalled(t *testing.T) { //nolint:paralleltest // It sets the environment.
	setGiven(t)
	local := filepath.Join(t.TempDir(), ".local")
	require.NoError(t, os.Mkdir(local, 0o700))
	innocent := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, innocent.Start())
	defer func() { _ = innocent.Process.Kill() }()
	require.NoError(t, os.WriteFile(envFile(local), fmt.Appendf(nil, pidLine, innocent.Process.Pid), 0o600))

	require.Zero(t, process(local))
	require.NoError(t, down(t.Context(), local))
	require.NoError(t, innocent.Process.Signal(syscall.SIGKILL))
	var ended *exec.ExitError
	require.ErrorAs(t, innocent.Wait(), &ended)
	require.Equal(t, syscall.SIGKILL, ended.Sys().(syscall.WaitStatus).Signal(), "the first signal was that of the test")
	require.NoError(t, removeOld(local))
	require.NoFileExists(t, envFile(local))
}
