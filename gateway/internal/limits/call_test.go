package limits_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
)

// gate holds all trips until it is opened, and remembers every run of the script.
type gate struct {
	trips

	open chan struct{}
	mu   sync.Mutex
	runs []scriptRun
}

// scriptRun has the keys of a run and for how many requests it was.
type scriptRun struct {
	keys     []string
	requests int
}

func (g *gate) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		g.made.Add(1)
		<-g.open
		g.mu.Lock()
		for _, cmd := range cmds {
			if strings.HasPrefix(cmd.Name(), "eval") {
				g.runs = append(g.runs, runOf(cmd.Args()))
			}
		}
		g.mu.Unlock()
		return next(ctx, cmds)
	}
}

// runOf reads EVALSHA, the script, the number of keys, the keys, limit, window, and the requests of each log.
//
//nolint:forcetypeassert // A script that is given something else has no such answers.
func runOf(args []any) (run scriptRun) {
	n := args[2].(int)
	for _, key := range args[3 : 3+n] {
		run.keys = append(run.keys, key.(string))
	}
	for _, requests := range args[3+n+2:] {
		run.requests += requests.(int)
	}
	return run
}

// together makes the requests wait for trips that are under way, so that they leave at once.
func (g *gate) together(t *testing.T, l *limits.Limiter, before func(), requests []func()) {
	t.Helper()
	var group errgroup.Group
	for n := int64(1); n <= 2; n++ {
		group.Go(func() error { l.TakeKey(t.Context(), uuid.NewString(), 1); return nil })
		require.Eventually(t, func() bool { return g.made.Load() == n }, 5*time.Second, time.Millisecond)
	}
	var begun sync.WaitGroup
	for _, request := range requests {
		begun.Add(1)
		group.Go(func() error { begun.Done(); request(); return nil })
	}
	begun.Wait()
	before()
	close(g.open)
	require.NoError(t, group.Wait())
}

// seen collects what requests were told.
type seen struct {
	mu       sync.Mutex
	verdicts []limits.Verdict
	versions []int64
}

func (s *seen) requests(t *testing.T, l *limits.Limiter, n int, tenant string, key int32) []func() {
	t.Helper()
	return slices.Repeat([]func(){func() {
		verdict, version := l.TakeKey(t.Context(), tenant, key)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.verdicts, s.versions = append(s.verdicts, verdict), append(s.versions, version)
	}}, n)
}

// accepted are as many as said, each told how many remain; all know the version.
func (s *seen) accepted(t *testing.T, accepted, limit int, version int64) {
	t.Helper()
	remaining := []int{}
	for i, v := range s.verdicts {
		require.Equal(t, version, s.versions[i])
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

func TestRequestsOfOneTripAreJudgedByTheirOwnLogs(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, c *redis.Client){
		"as ever": func(*testing.T, *redis.Client) {},
		"by a Redis that was started again": func(t *testing.T, c *redis.Client) {
			t.Helper()
			require.NoError(t, c.ScriptFlush(t.Context()).Err())
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy := limits.Policy{Name: "key", Limit: 70, Window: time.Minute}
			c, shared, hook := client(t), client(t), &gate{open: make(chan struct{})}
			shared.AddHook(hook)
			fallbacks := &tally{}
			l := tallying(t, shared, policy, fallbacks)
			one, two := uuid.NewString(), uuid.NewString()
			require.NoError(t, c.Set(t.Context(), "gifting:tenant-version:{"+one+"}", 7, time.Minute).Err())
			require.NoError(t, c.HSet(t.Context(), "gifting:tenant-version:{"+two+"}", "no", "text").Err())
			require.NoError(t, c.Set(t.Context(), "gifting:requests:{"+two+"}:2", "no list", time.Minute).Err())
			for other := limiter(t, c, policy); ; {
				if v, _ := other.TakeKey(t.Context(), one, 1); v.Remaining == 0 {
					break
				}
			}

			var exhausted, plenty, few, broken seen
			hook.together(t, l, func() { before(t, c) }, slices.Concat(
				exhausted.requests(t, l, 10, one, 1), plenty.requests(t, l, 100, one, 2),
				broken.requests(t, l, 5, two, 2), few.requests(t, l, 10, two, 1),
			))
			exhausted.accepted(t, 0, policy.Limit, 7)
			plenty.accepted(t, policy.Limit, policy.Limit, 7)
			few.accepted(t, 10, policy.Limit, 0)
			broken.accepted(t, 5, policy.Limit, 0)
			require.EqualValues(t, 5, fallbacks.n.Load(), "only those of the key that is no list were counted here")
			require.Less(t, hook.made.Load(), int64(20))
			for _, run := range hook.runs {
				require.LessOrEqual(t, run.requests, 64, "a longer run would keep others waiting")
			}
			for log, n := range map[string]int64{one + "}:1": 70, one + "}:2": 70, two + "}:1": 10} {
				require.Equal(t, n, c.LLen(t.Context(), "gifting:requests:{"+log).Val(), log)
			}
		})
	}
}

func TestAddressesOfOneTripAreCountedApart(t *testing.T) {
	c, hook := client(t), &gate{open: make(chan struct{})}
	c.AddHook(hook)
	l := limiter(t, c, limits.Policy{Name: uuid.NewString(), Limit: 2, Window: time.Minute})
	var one, two seen
	take := func(s *seen, ip string) func() {
		return func() {
			v := l.TakeIP(t.Context(), ip)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.verdicts, s.versions = append(s.verdicts, v), append(s.versions, 0)
		}
	}
	hook.together(t, l, func() {}, []func(){
		take(&one, "192.0.2.1"), take(&two, "2001:db8::1"), take(&one, "192.0.2.1"), take(&one, "192.0.2.1"),
	})
	one.accepted(t, 2, 2, 0)
	two.accepted(t, 1, 2, 0)
}

func TestServersThatShareTheKeysAreAskedByTag(t *testing.T) {
	opts, err := redis.ParseURL(os.Getenv(redisVariable))
	require.NoError(t, err)
	ring := redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"one": opts.Addr, "two": opts.Addr}, Username: opts.Username, Password: opts.Password, DB: opts.DB,
	})
	t.Cleanup(func() { _ = ring.Close() })
	hook := &gate{open: make(chan struct{})}
	ring.AddHook(hook)
	l := limiter(t, ring, limits.Policy{Name: "key", Limit: 10, Window: time.Minute})
	tenants := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
	judged := make([]seen, len(tenants))
	var requests []func()
	for i, tenant := range tenants {
		requests = slices.Concat(requests, judged[i].requests(t, l, 12, tenant, 1))
	}
	hook.together(t, l, func() {}, requests)
	for i := range judged {
		judged[i].accepted(t, 10, 10, 0)
	}
	for _, run := range hook.runs {
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
