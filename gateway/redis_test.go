package gateway_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// publishVersion does what the tenants service does after a change of the tenant.
func publishVersion(t *testing.T, tenantID string, version int64) {
	t.Helper()
	opts, err := redis.ParseURL(os.Getenv(redisVariable))
	require.NoError(t, err)
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, client.Set(t.Context(), fmt.Sprintf("gifting:tenant-version:{%s}", tenantID), version, time.Minute).Err())
}
