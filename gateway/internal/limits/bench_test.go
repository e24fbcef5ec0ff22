package limits_test

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/limits"
)

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
