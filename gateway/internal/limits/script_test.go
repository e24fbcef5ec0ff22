package limits_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/testenv"
)

func TestARestartedRedisGetsTheScriptAgain(t *testing.T) {
	t.Parallel()
	c := client(t)
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	for n := 9; n > 6; n-- {
		require.NoError(t, c.ScriptFlush(t.Context()).Err(), "as after a restart of Redis")
		v, _ := l.TakeKey(t.Context(), tenant, 1)
		require.Equal(t, n, v.Remaining)
	}
	require.EqualValues(t, 3, c.LLen(t.Context(), "gifting:requests:{"+tenant+"}:1").Val())
}

func TestAVersionThatIsNoNumberIsUnknown(t *testing.T) {
	t.Parallel()
	c, tenant := client(t), uuid.NewString()
	l := limiter(t, c, limits.Policy{Limit: 10, Window: time.Minute})
	for n, set := range []func() error{
		func() error {
			return c.Set(t.Context(), "gifting:tenant-version:{"+tenant+"}", "seven", time.Minute).Err()
		},
		func() error {
			return errors.Join(c.Del(t.Context(), "gifting:tenant-version:{"+tenant+"}").Err(),
				c.HSet(t.Context(), "gifting:tenant-version:{"+tenant+"}", "not", "text").Err())
		},
	} {
		require.NoError(t, set())
		v, version := l.TakeKey(t.Context(), tenant, 1)
		require.Equal(t, 9-n, v.Remaining)
		require.Zero(t, version)
	}
}

// The keys of a request are on one server of a cluster, because they have the same tag.
func TestInAClusterTheKeysOfARequestAreTogether(t *testing.T) {
	t.Parallel()
	opts, err := redis.ParseURL(testenv.Require(t, testenv.RedisURL))
	require.NoError(t, err)
	ring := redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"one": opts.Addr, "two": opts.Addr}, Username: opts.Username, Password: opts.Password, DB: opts.DB,
	})
	t.Cleanup(func() { _ = ring.Close() })
	var keys keyHook
	ring.AddHook(&keys)
	l := limiter(t, ring, limits.Policy{Name: "key", Limit: 10, Window: time.Minute})
	tenant := uuid.NewString()
	require.Equal(t, 10, takeAtOnce(t, tenant, 12, l))
	require.NotEmpty(t, keys.found)
	for _, key := range keys.found {
		require.Contains(t, key, "{"+tenant+"}")
	}
}

// keyHook notes the keys of scripts.
type keyHook struct {
	mu    sync.Mutex
	found []string
}

func (h *keyHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *keyHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); strings.HasPrefix(cmd.Name(), "eval") {
			h.mu.Lock()
			for _, key := range args[3 : 3+args[2].(int)] { //nolint:forcetypeassert // As go-redis sends it.
				h.found = append(h.found, key.(string)) //nolint:forcetypeassert // As go-redis sends it.
			}
			h.mu.Unlock()
		}
		return next(ctx, cmd)
	}
}

func (h *keyHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestALogExpiresAtLeastAWindowAfterItsLastRequest(t *testing.T) {
	t.Parallel()
	const window = time.Minute
	c, tenant := client(t), uuid.NewString()
	l := limiter(t, c, limits.Policy{Limit: 4, Window: window})
	log := "gifting:requests:{" + tenant + "}:1"
	for _, step := range []struct {
		why             string
		before          func(c *redis.Client) error
		allowed         bool
		atLeast, atMost time.Duration
	}{
		{"a new log", func(*redis.Client) error { return nil }, true, window, 3 * window},
		{"one that would expire before its request leaves the window", func(c *redis.Client) error {
			return c.PExpire(t.Context(), log, window*9/10).Err()
		}, true, window, 3 * window},
		{"one that expires late enough", func(c *redis.Client) error {
			return c.PExpire(t.Context(), log, window+window/2).Err()
		}, true, window, window + window/2},
		{"one without expiry", func(c *redis.Client) error { return c.Persist(t.Context(), log).Err() }, true, window, 3 * window},
		{"a request that is refused", func(c *redis.Client) error {
			return c.PExpire(t.Context(), log, window/2).Err()
		}, false, 0, window / 2},
	} {
		require.NoError(t, step.before(c), step.why)
		v, _ := l.TakeKey(t.Context(), tenant, 1)
		require.Equal(t, step.allowed, v.Allowed, step.why)
		expires := c.PTTL(t.Context(), log).Val()
		require.Greater(t, expires, step.atLeast-5*time.Second, step.why)
		require.LessOrEqual(t, expires, step.atMost, step.why)
	}
}

func TestAnUnusedLogExpires(t *testing.T) {
	t.Parallel()
	c, tenant := client(t), uuid.NewString()
	l := limiter(t, c, limits.Policy{Limit: 2, Window: 50 * time.Millisecond})
	l.TakeKey(t.Context(), tenant, 1)
	require.Eventually(t, func() bool {
		return c.Exists(t.Context(), "gifting:requests:{"+tenant+"}:1").Val() == 0
	}, 5*time.Second, time.Millisecond)
}

func TestNoWindowHasMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	policy := limits.Policy{Limit: 3, Window: 40 * time.Millisecond}
	l := limiter(t, client(t), policy)
	tenant := uuid.NewString()
	var sent []time.Time
	for len(sent) < 60 { // Twenty windows, in which the expiry of the log is moved a few times.
		before := time.Now()
		v, _ := l.TakeKey(t.Context(), tenant, 1)
		if !v.Allowed {
			continue
		}
		if n := len(sent); n >= policy.Limit {
			require.GreaterOrEqual(t, time.Since(sent[n-policy.Limit]), policy.Window)
		}
		sent = append(sent, before)
	}
}

// BenchmarkTakeKey measures the processor time of a counted request in this process and in Redis, by the number of concurrent
// callers and of tenants.
func BenchmarkTakeKey(b *testing.B) {
	for _, tenants := range []int{1, 1000} {
		for _, callers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("tenants=%d/callers=%d", tenants, callers), func(b *testing.B) {
				takeKeys(b, tenants, callers)
			})
		}
	}
}

func takeKeys(b *testing.B, tenants, callers int) {
	b.Helper()
	c := client(b)
	l := limiter(b, c, limits.Policy{Limit: 1_000_000, Window: time.Second})
	names := make([]string, tenants)
	for i := range names {
		names[i] = uuid.NewString()
	}
	var begun atomic.Int64
	var group errgroup.Group
	own, server := ownMicros(b), redisMicros(b, c)
	b.ResetTimer()
	for range callers {
		group.Go(func() error {
			for n := begun.Add(1); n <= int64(b.N); n = begun.Add(1) {
				l.TakeKey(b.Context(), names[n*7919%int64(tenants)], 1)
			}
			return nil
		})
	}
	require.NoError(b, group.Wait())
	b.StopTimer()
	b.ReportMetric((ownMicros(b)-own)/float64(b.N), "process-µs/op")
	b.ReportMetric((redisMicros(b, c)-server)/float64(b.N), "redis-µs/op")
}

// ownMicros is the processor time of this process.
func ownMicros(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e3
}

// redisMicros is the processor time of Redis, as Redis reports it.
func redisMicros(b *testing.B, c *redis.Client) (micros float64) {
	b.Helper()
	info, err := c.Info(b.Context(), "cpu").Result()
	require.NoError(b, err)
	for lines := bufio.NewScanner(strings.NewReader(info)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			seconds, err := strconv.ParseFloat(value, 64)
			require.NoError(b, err)
			micros += seconds * 1e6
		}
	}
	return micros
}
