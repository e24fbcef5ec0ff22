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
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/tenants"
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
		v, err := client.Get(t.Context(), tenants.VersionKey(tenant)).Result()
		require.NoError(t, err)
		return v
	}
	for _, step := range []struct {
		publish int64
		want    string
	}{{9, "9"}, {10, "10"}, {9, "10"}, {10, "10"}, {100, "100"}} {
		require.NoError(t, p.Publish(t.Context(), tenant, step.publish))
		require.Equal(t, step.want, read())
	}

	t.Run("also when versions arrive concurrently in any order", func(t *testing.T) {
		var group errgroup.Group
		for v := range int64(32) {
			group.Go(func() error { return p.Publish(t.Context(), tenant, 101+(v*7)%32) })
		}
		require.NoError(t, group.Wait())
		require.Equal(t, "132", read())
	})
	t.Run("a value that is not a number is replaced", func(t *testing.T) {
		require.NoError(t, client.Set(t.Context(), tenants.VersionKey(tenant), "x", 0).Err())
		require.NoError(t, p.Publish(t.Context(), tenant, 3))
		require.Equal(t, "3", read())
	})
}

func TestACancelledCallerDoesNotStopThePublication(t *testing.T) {
	t.Parallel()
	p, client := setup(t)
	tenant := uuid.NewString()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, p.Publish(ctx, tenant, 5))
	require.Equal(t, "5", client.Get(t.Context(), tenants.VersionKey(tenant)).Val())
}

// refuseVersion makes Redis refuse the version of a tenant until accept is called.
func refuseVersion(t *testing.T, client *redis.Client) (tenant string, accept func()) {
	t.Helper()
	tenant = uuid.NewString()
	accept = func() { client.Del(context.Background(), tenants.VersionKey(tenant)) }
	require.NoError(t, client.HSet(t.Context(), tenants.VersionKey(tenant), "not", "text").Err())
	t.Cleanup(accept)
	return tenant, accept
}

func TestAChangeThatRedisDoesNotTakeIsAnsweredWhenCopiesHaveExpired(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	for name, url := range map[string]string{
		"it refuses": testenv.Require(t, testenv.RedisURL), "it is down": "redis://127.0.0.1:1",
		"it is silent": "redis://" + silent.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			tel := telemetrytest.New()
			tel.Logger = slog.New(slog.NewJSONHandler(&log, nil))
			p, err := versions.Open(url, tel.Telemetry)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, p.Close()) })
			const lease = 700 * time.Millisecond
			p.SetLease(lease)
			_, client := setup(t)
			tenant, _ := refuseVersion(t, client)

			began := time.Now()
			require.NoError(t, p.Publish(t.Context(), tenant, 7))
			require.GreaterOrEqual(t, time.Since(began), lease)
			require.Contains(t, log.String(), tenant)
			require.Equal(t, map[string]float64{"": 1}, tel.Values(t, "gifting.tenants.unpublished_versions"))
		})
	}
}

func TestAChangeIsAnsweredAsSoonAsRedisTakesIt(t *testing.T) {
	t.Parallel()
	p, client := setup(t)
	p.SetLease(time.Hour)
	tenant, accept := refuseVersion(t, client)
	answered := make(chan error)
	go func() { answered <- p.Publish(t.Context(), tenant, 7) }()
	select {
	case err := <-answered:
		require.Fail(t, "it was answered too early", "%v", err)
	case <-time.After(time.Second):
	}
	accept()
	require.NoError(t, <-answered)
	require.Equal(t, "7", client.Get(t.Context(), tenants.VersionKey(tenant)).Val())
}

func TestACallerThatLeavesGetsNoAnswer(t *testing.T) {
	t.Parallel()
	p, client := setup(t)
	p.SetLease(time.Hour)
	tenant, _ := refuseVersion(t, client)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Publish(ctx, tenant, 7), context.DeadlineExceeded)
}

func TestAChangeWaitsLongerThanACopyIsUsed(t *testing.T) {
	t.Parallel()
	p, client := setup(t)
	tenant, _ := refuseVersion(t, client)
	began := time.Now()
	require.NoError(t, p.Publish(t.Context(), tenant, 7))
	require.Greater(t, time.Since(began), tenants.VersionLease)
}

func TestWithoutRedisNothingIsPublished(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	p, err := versions.Open("", tel)
	require.NoError(t, err)
	require.NoError(t, p.Publish(t.Context(), "tenant", 1))
	require.NoError(t, p.Close())
	require.Empty(t, log.String())
	_, err = versions.Open("http://example.com", telemetry.Discard())
	require.Error(t, err)
}
