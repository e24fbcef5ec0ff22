package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	cancel()
	require.NoError(t, <-done)
	require.Zero(t, process(local))
	require.NoError(t, down(t.Context(), local))
}
