package limits_test

import (
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

// The clock of Redis may go back, such as on a change to a replica. What was counted before then lies in the future.
func TestRequestsOfAClockThatWentBackAreForgotten(t *testing.T) {
	t.Parallel()
	const limit = 4
	c := client(t)
	l := limiter(t, c, limits.Policy{Limit: limit, Window: time.Minute})
	for name, ages := range map[string][]time.Duration{
		"all of them":        {-time.Hour, -time.Hour, -time.Hour, -time.Hour},
		"all but the oldest": {30 * time.Second, 20 * time.Second, -10 * time.Second, -20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tenant, now, past := uuid.NewString(), c.Time(t.Context()).Val(), 0
			log := "gifting:requests:{" + tenant + "}:1"
			for _, age := range ages {
				require.NoError(t, c.RPush(t.Context(), log, now.Add(-age).UnixMicro()).Err())
				if age > 0 {
					past++
				}
			}
			v, _ := l.TakeKey(t.Context(), tenant, 1)
			require.True(t, v.Allowed)
			require.Equal(t, limit-past-1, v.Remaining, "those of the past count")
			require.EqualValues(t, past+1, c.LLen(t.Context(), log).Val())
			require.LessOrEqual(t, v.Reset, time.Minute)
		})
	}
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
