package gateway_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func openRedis(t *testing.T) *redis.Client {
	t.Helper()
	opts, err := redis.ParseURL(os.Getenv(redisVariable))
	require.NoError(t, err)
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// publishVersion does what the tenants service does after a change of the tenant.
func publishVersion(t *testing.T, tenantID string, version int64) {
	t.Helper()
	require.NoError(t, openRedis(t).Set(t.Context(), fmt.Sprintf("gifting:tenant-version:{%s}", tenantID), version, time.Minute).Err())
}
