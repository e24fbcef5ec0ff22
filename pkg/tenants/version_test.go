package tenants_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/testenv"
)

func open(t *testing.T, address string) *tenants.VersionReader {
	t.Helper()
	r, err := tenants.OpenVersions(address, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestPublishedVersionsAreRead(t *testing.T) {
	t.Parallel()
	address := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(address)
	require.NoError(t, err)
	client := redis.NewClient(opts)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	one, two, none, broken := uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()
	for id, version := range map[string]any{one: 7, two: 1 << 40, broken: "x"} {
		require.NoError(t, client.Set(t.Context(), tenants.VersionKey(id), version, 0).Err())
		t.Cleanup(func() { client.Del(context.Background(), tenants.VersionKey(id)) })
	}
	r := open(t, address)
	require.Equal(t, map[string]int64{one: 7, two: 1 << 40}, r.Published(t.Context(), []string{one, none, two, broken}))
	require.Empty(t, r.Published(t.Context(), nil))
}

func TestWithoutRedisNoVersionIsKnown(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"not configured": "", "not running": "redis://127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, open(t, address).Published(t.Context(), []string{"t"}))
		})
	}
	_, err := tenants.OpenVersions("http://nobody", telemetry.Discard())
	require.Error(t, err)
}
