package limits_test

import (
	"bufio"
	"fmt"
	"math"
	"slices"
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
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

// scriptRun is a run of the script: its keys, and how many requests it counts.
type scriptRun struct {
	keys     []string
	requests int
}

// runOf reads the arguments of EVALSHA: the script, the number of keys, the keys, limit, window, and the requests of each log.
//
// It returns false for other commands. On a busy machine a pipeline may begin with what Redis is owed, which another script adds:
// it gets no limit, which is an int, but a window in microseconds.
//
//nolint:forcetypeassert // The limiter always sends these types.
func runOf(args []any) (run scriptRun, ok bool) {
	if !strings.HasPrefix(args[0].(string), "eval") {
		return run, false
	}
	n := args[2].(int)
	if _, ok := args[3+n].(int); !ok {
		return run, false
	}
	for _, key := range args[3 : 3+n] {
		run.keys = append(run.keys, key.(string))
	}
	for _, requests := range args[3+n+2:] {
		run.requests += requests.(int)
	}
	return run, true
}

// batched lets the requests wait for batches in flight, so that they form one batch.
func (h *hook) batched(t *testing.T, l *limits.Limiter, before func(), requests []func()) {
	t.Helper()
	var group errgroup.Group
	for n := int64(1); n <= 2; n++ {
		group.Go(func() error { l.TakeKey(t.Context(), uuid.NewString(), 1); return nil })
		require.Eventually(t, func() bool { return h.batches.Load() == n }, 5*time.Second, time.Millisecond)
	}
	var begun sync.WaitGroup
	for _, request := range requests {
		begun.Add(1)
		group.Go(func() error { begun.Done(); request(); return nil })
	}
	begun.Wait()
	before()
	close(h.open)
	require.NoError(t, group.Wait())
}

// results collects the results of requests.
type results struct {
	mu       sync.Mutex
	verdicts []limits.Verdict
	versions []int64
}

func (r *results) requests(t *testing.T, l *limits.Limiter, n int, tenant string, key int32) []func() {
	t.Helper()
	return slices.Repeat([]func(){func() {
		verdict, version := l.TakeKey(t.Context(), tenant, key)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.verdicts, r.versions = append(r.verdicts, verdict), append(r.versions, version)
	}}, n)
}

// requireAccepted checks how many requests were accepted, that each has a different remainder, and that all got the version.
func (r *results) requireAccepted(t *testing.T, accepted, limit int, version int64) {
	t.Helper()
	remaining := []int{}
	for i, v := range r.verdicts {
		require.Equal(t, version, r.versions[i])
		require.Greater(t, v.Reset, 50*time.Second)
		require.LessOrEqual(t, v.Reset, time.Minute)
		if v.Allowed {
			remaining = append(remaining, v.Remaining)
			continue
		}
		require.Zero(t, v.Remaining)
	}
	slices.Sort(remaining)
	want := make([]int, accepted)
	for i := range want {
		want[i] = limit - accepted + i
	}
	require.Equal(t, want, remaining)
}

func TestRequestsOfOneBatchAreCountedInTheirOwnLogs(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(t *testing.T, c *redis.Client){
		"normally": func(*testing.T, *redis.Client) {},
		"by a restarted Redis": func(t *testing.T, c *redis.Client) {
			t.Helper()
			require.NoError(t, c.ScriptFlush(t.Context()).Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy := limits.Policy{Name: "key", Limit: 70, Window: time.Minute}
			c, shared, h, tel := client(t), client(t), newHook(math.MaxInt64), telemetrytest.New()
			shared.AddHook(h)
			l := newLimiter(t, limits.Deps{Redis: shared, Meter: tel.Meters.Meter("test")}, limits.Config{Policy: policy, RedisBudget: 20 * time.Second})
			one, two := uuid.NewString(), uuid.NewString()
			require.NoError(t, c.Set(t.Context(), "gifting:tenant-version:{"+one+"}", 7, time.Minute).Err())
			require.NoError(t, c.HSet(t.Context(), "gifting:tenant-version:{"+two+"}", "not", "text").Err())
			require.NoError(t, c.Set(t.Context(), "gifting:requests:{"+two+"}:2", "not a list", time.Minute).Err())
			for other := limiter(t, c, policy); ; {
				if v, _ := other.TakeKey(t.Context(), one, 1); v.Remaining == 0 {
					break
				}
			}

			var exhausted, plenty, few, broken results
			h.batched(t, l, func() { before(t, c) }, slices.Concat(
				exhausted.requests(t, l, 10, one, 1), plenty.requests(t, l, 100, one, 2),
				broken.requests(t, l, 5, two, 2), few.requests(t, l, 10, two, 1),
			))
			exhausted.requireAccepted(t, 0, policy.Limit, 7)
			plenty.requireAccepted(t, policy.Limit, policy.Limit, 7)
			few.requireAccepted(t, 10, policy.Limit, 0)
			broken.requireAccepted(t, 5, policy.Limit, 0)
			require.Equal(t, map[string]float64{"cause=failed,limiter=key": 5, "cause=paused,limiter=key": 0, "cause=slow,limiter=key": 0}, tel.Values(t, "gifting.gateway.limiter.fallback"), "the requests of the key that is not a list")
			require.Less(t, h.batches.Load(), int64(20))
			for _, run := range h.runs {
				require.LessOrEqual(t, run.requests, 64, "a longer run would block other clients")
			}
			for log, n := range map[string]int64{one + "}:1": 70, one + "}:2": 70, two + "}:1": 10} {
				require.Equal(t, n, c.LLen(t.Context(), "gifting:requests:{"+log).Val(), log)
			}
		})
	}
}

func TestAddressesOfOneBatchAreCountedSeparately(t *testing.T) {
	t.Parallel()
	c, h := client(t), newHook(math.MaxInt64)
	c.AddHook(h)
	l := limiter(t, c, limits.Policy{Name: uuid.NewString(), Limit: 2, Window: time.Minute})
	var one, two results
	take := func(r *results, ip string) func() {
		return func() {
			v := l.TakeIP(t.Context(), ip)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.verdicts, r.versions = append(r.verdicts, v), append(r.versions, 0)
		}
	}
	h.batched(t, l, func() {}, []func(){
		take(&one, "192.0.2.1"), take(&two, "2001:db8::1"), take(&one, "192.0.2.1"), take(&one, "192.0.2.1"),
	})
	one.requireAccepted(t, 2, 2, 0)
	two.requireAccepted(t, 1, 2, 0)
}

func TestInAClusterRunsAreSeparateByTag(t *testing.T) {
	t.Parallel()
	opts, err := redis.ParseURL(testenv.Require(t, testenv.RedisURL))
	require.NoError(t, err)
	ring := redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"one": opts.Addr, "two": opts.Addr}, Username: opts.Username, Password: opts.Password, DB: opts.DB,
	})
	t.Cleanup(func() { _ = ring.Close() })
	h := newHook(math.MaxInt64)
	ring.AddHook(h)
	l := limiter(t, ring, limits.Policy{Name: "key", Limit: 10, Window: time.Minute})
	tenants := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
	judged := make([]results, len(tenants))
	var requests []func()
	for i, tenant := range tenants {
		requests = slices.Concat(requests, judged[i].requests(t, l, 12, tenant, 1))
	}
	h.batched(t, l, func() {}, requests)
	for i := range judged {
		judged[i].requireAccepted(t, 10, 10, 0)
	}
	for _, run := range h.runs {
		for _, key := range run.keys {
			require.Equal(t, tag(run.keys[0]), tag(key))
		}
	}
}

func tag(key string) string {
	_, after, _ := strings.Cut(key, "{")
	before, _, _ := strings.Cut(after, "}")
	return before
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
