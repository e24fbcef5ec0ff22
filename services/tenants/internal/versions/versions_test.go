package versions_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenantversion"
	"github.com/partnergifting/platform/pkg/testenv"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

// setup makes a publisher that publishes each version, however busy the machine is.
func setup(t *testing.T) (*versions.Publisher, *redis.Client) {
	t.Helper()
	url := testenv.Require(t, testenv.RedisURL)
	opts, err := redis.ParseURL(url)
	require.NoError(t, err)
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	p, err := versions.Open(url, telemetry.Discard())
	require.NoError(t, err)
	p.SetBudget(time.Minute)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p, client
}

func TestAPublishedVersionOnlyGrows(t *testing.T) {
	t.Parallel()
	p, client := setup(t)
	tenant := uuid.NewString()
	read := func() string {
		t.Helper()
		v, err := client.Get(t.Context(), tenantversion.Key(tenant)).Result()
		require.NoError(t, err)
		return v
	}
	for _, step := range []struct {
		publish int64
		want    string
	}{{9, "9"}, {10, "10"}, {9, "10"}, {10, "10"}, {100, "100"}} {
		p.Publish(t.Context(), tenant, step.publish)
		require.Equal(t, step.want, read())
	}

	t.Run("also when versions arrive concurrently in any order", func(t *testing.T) {
		var group errgroup.Group
		for v := range int64(32) {
			group.Go(func() error {
				p.Publish(t.Context(), tenant, 101+(v*7)%32)
				return nil
			})
		}
		require.NoError(t, group.Wait())
		require.Equal(t, "132", read())
	})
	t.Run("a value that is not a number is replaced", func(t *testing.T) {
		require.NoError(t, client.Set(t.Context(), tenantversion.Key(tenant), "x", 0).Err())
		p.Publish(t.Context(), tenant, 3)
		require.Equal(t, "3", read())
	})
}

func TestACancelledCallerDoesNotStopThePublication(t *testing.T) {
	t.Parallel()
	p, client := setup(t)
	tenant := uuid.NewString()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Publish(ctx, tenant, 5)
	require.Equal(t, "5", client.Get(t.Context(), tenantversion.Key(tenant)).Val())
}

func TestIfRedisDoesNotAnswerAChangeWaitsForTheBudgetAndLogsALine(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	var log bytes.Buffer
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	p, err := versions.Open("redis://"+silent.Addr().String(), tel)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })

	start := time.Now()
	p.Publish(t.Context(), "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", 7)
	require.Less(t, time.Since(start), 2*time.Second, "the budget, and not the timeouts of the client")
	require.Contains(t, log.String(), "tenant version not published")
	require.Contains(t, log.String(), "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f")
}

func TestWithoutRedisNothingIsPublished(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	p, err := versions.Open("", tel)
	require.NoError(t, err)
	p.Publish(t.Context(), "tenant", 1)
	require.NoError(t, p.Close())
	require.Empty(t, log.String())
	_, err = versions.Open("http://example.com", telemetry.Discard())
	require.Error(t, err)
}
