package deps

import (
	"context"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDirVariable); dir != "" {
		panic(victim(dir)) // victim returns only if it could not start
	}
	os.Exit(m.Run())
}

var quiet = slog.New(slog.DiscardHandler)

// dataDir is a temporary directory that the server's user can enter, unlike those that Go makes.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deps") //nolint:usetesting // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, RemoveData(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // on purpose, see above
	return dir
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := FreePort(t.Context())
	require.NoError(t, err)
	return port
}

// mustStart requires a start without an error. It stops the instance at the end of the test, if the test has not.
func mustStart(t *testing.T) func(*Instance, error) *Instance {
	t.Helper()
	return func(instance *Instance, err error) *Instance {
		t.Helper()
		require.NoError(t, err)
		t.Cleanup(func() { stop(t, instance) })
		return instance
	}
}

func stop(t *testing.T, instance *Instance) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	require.NoError(t, instance.Stop(ctx))
}

func TestGiven(t *testing.T) {
	t.Run("a given address is used and nothing is started", func(t *testing.T) {
		postgres, err := StartPostgreSQL(t.Context(), PostgreSQLConfig{URL: "postgres://somewhere/db"})
		require.NoError(t, err)
		redis, err := StartRedis(t.Context(), RedisConfig{URL: "redis://somewhere"})
		require.NoError(t, err)
		kafka, err := StartKafka(t.Context(), KafkaConfig{Brokers: []string{"one:9092", "two:9092"}})
		require.NoError(t, err)

		require.Equal(t, "postgres://somewhere/db", postgres.Address)
		require.Equal(t, "redis://somewhere", redis.Address)
		require.Equal(t, "one:9092,two:9092", kafka.Address)
		for _, instance := range []*Instance{postgres, redis, kafka} {
			require.Equal(t, Given, instance.Kind)
			require.NoError(t, instance.Stop(t.Context()))
		}
	})
}

func TestFreeRow(t *testing.T) {
	first, err := FreeRow(t.Context(), 3)
	require.NoError(t, err)
	require.True(t, PortsFree(t.Context(), first, 3))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", loopback(first+2))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	require.False(t, PortsFree(t.Context(), first, 3))
	require.True(t, PortsFree(t.Context(), first, 2))
}
