package limits_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/limits"
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

// The clock of Redis may go back, such as on a change to a replica. What was counted before then lies in the future, although it
// may have been accepted just now.
func TestRequestsOfAClockThatWentBackCountAsNew(t *testing.T) {
	t.Parallel()
	const limit, window = 4, time.Minute
	c := client(t)
	for name, ages := range map[string][]time.Duration{
		"all of them":        {-time.Hour, -time.Hour, -time.Hour},
		"all but the oldest": {30 * time.Second, -10 * time.Second, -20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limiter(t, c, limits.Policy{Limit: limit, Window: window})
			tenant, before, future := uuid.NewString(), c.Time(t.Context()).Val(), 0
			log := "gifting:requests:{" + tenant + "}:1"
			for _, age := range ages {
				require.NoError(t, c.RPush(t.Context(), log, before.Add(-age).UnixMicro()).Err())
				if age < 0 {
					future++
				}
			}
			v, _ := l.TakeKey(t.Context(), tenant, 1)
			require.True(t, v.Allowed)
			require.Zero(t, v.Remaining)
			require.LessOrEqual(t, v.Reset, window)
			times := c.LRange(t.Context(), log, 0, -1).Val()
			require.Len(t, times, limit)
			require.True(t, slices.IsSorted(times))
			for _, at := range times[limit-1-future:] {
				micros, err := strconv.ParseInt(at, 10, 64)
				require.NoError(t, err)
				require.WithinRange(t, time.UnixMicro(micros), before, c.Time(t.Context()).Val())
			}
		})
	}
}

func TestGatewaysHoldTheLimitWhenTheClockOfRedisGoesBack(t *testing.T) {
	t.Parallel()
	c, tenant := client(t), uuid.NewString()
	policy := limits.Policy{Limit: 4, Window: time.Minute}
	gateways := []*limits.Limiter{limiter(t, c, policy), limiter(t, c, policy)}
	accepted := func() (n int) {
		for range 2 {
			for _, l := range gateways {
				if v, _ := l.TakeKey(t.Context(), tenant, 1); v.Allowed {
					n++
				}
			}
		}
		return n
	}
	require.Equal(t, 4, accepted())
	log := "gifting:requests:{" + tenant + "}:1"
	for i, at := range c.LRange(t.Context(), log, 0, -1).Val() {
		micros, err := strconv.ParseInt(at, 10, 64)
		require.NoError(t, err)
		require.NoError(t, c.LSet(t.Context(), log, int64(i), micros+(15*time.Second).Microseconds()).Err())
	}
	require.Zero(t, accepted())
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
