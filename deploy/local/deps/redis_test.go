package deps

import (
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func redisClient(t *testing.T, address string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(address)
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func portOf(t *testing.T, address *url.URL) int {
	t.Helper()
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)
	return port
}

func TestRedis(t *testing.T) {
	t.Run("a real server keeps its data after a stop and a start", func(t *testing.T) {
		dir := dataDir(t)
		first := mustStart(t)(startRedisIn(t.Context(), dir))
		require.Equal(t, Server, first.Kind)
		require.NoError(t, redisClient(t, first.Address).Set(t.Context(), "kept", "1", 0).Err())
		stop(t, first)
		require.NoFileExists(t, filepath.Join(dir, "redis", "redis.pid"))

		second := mustStart(t)(startRedisIn(t.Context(), dir))
		value, err := redisClient(t, second.Address).Get(t.Context(), "kept").Result()
		require.NoError(t, err)
		require.Equal(t, "1", value)
	})

	t.Run("a second start on the same directory is refused", func(t *testing.T) {
		dir := dataDir(t)
		mustStart(t)(startRedisIn(t.Context(), dir))
		_, err := startRedisIn(t.Context(), dir)
		require.ErrorIs(t, err, ErrLocked)
	})

	t.Run("the embedded one lets keys expire and frees its port when it stops", func(t *testing.T) {
		cfg := RedisConfig{Port: freePort(t), Log: quiet}
		instance := mustStart(t)(startEmbeddedRedis(t.Context(), cfg))
		client := redisClient(t, instance.Address)
		require.NoError(t, client.Set(t.Context(), "short", "1", 300*time.Millisecond).Err())
		require.NoError(t, client.Get(t.Context(), "short").Err())
		require.Eventually(t, func() bool {
			return client.Get(t.Context(), "short").Err() == redis.Nil //nolint:errorlint // the client returns it bare
		}, 30*time.Second, pollInterval)

		stop(t, instance)
		require.NoError(t, RequireFree(t.Context(), "test", cfg.Port))
	})
}
