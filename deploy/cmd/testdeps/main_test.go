package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// setGiven has the command use addresses that nobody listens on, so that nothing is started.
func setGiven(t *testing.T) {
	t.Helper()
	t.Setenv(postgresURL, "postgres://given")
	t.Setenv(redisURL, "redis://given")
	t.Setenv(kafkaBrokers, "given:9092")
	t.Setenv(kafkaKind, "apache")
}

func TestRun(t *testing.T) {
	t.Run("the exit code is the command's", func(t *testing.T) {
		setGiven(t)
		require.Equal(t, 0, run([]string{"--", "true"}))
		require.Equal(t, 7, run([]string{"--", "sh", "-c", "exit 7"}))
	})

	t.Run("a durable PostgreSQL may be asked for", func(t *testing.T) {
		setGiven(t)
		require.Equal(t, 7, run([]string{"-durable", "--", "sh", "-c", "exit 7"}))
		require.Equal(t, usageError, run([]string{"-durable"}))
	})

	t.Run("the command finds its dependencies in the environment", func(t *testing.T) {
		setGiven(t)
		found := filepath.Join(t.TempDir(), "found")
		script := `echo "$GIFTING_TEST_POSTGRES_URL $GIFTING_TEST_REDIS_URL $GIFTING_TEST_KAFKA_BROKERS $GIFTING_TEST_KAFKA_KIND" > ` + found
		require.Equal(t, 0, run([]string{"--", "sh", "-c", script}))
		text, err := os.ReadFile(found)
		require.NoError(t, err)
		require.Equal(t, "postgres://given redis://given given:9092 apache\n", string(text))
	})

	t.Run("a command that does not exist and a missing command are errors of the call", func(t *testing.T) {
		setGiven(t)
		require.Equal(t, startError, run([]string{"--", "/no/such/command"}))
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

func TestSweep(t *testing.T) {
	t.Run("the directory of a dead run goes, that of a living one stays", func(t *testing.T) {
		local := t.TempDir()
		living := filepath.Join(local, prefix+strconv.Itoa(os.Getpid()))
		dead := filepath.Join(local, prefix+"2147483647") // above any process number
		require.NoError(t, os.Mkdir(living, 0o700))
		require.NoError(t, os.Mkdir(dead, 0o700))
		require.NoError(t, sweep(local))
		require.DirExists(t, living)
		require.NoDirExists(t, dead)
	})
}
