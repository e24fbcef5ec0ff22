package stack

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Latencies are sorted.
type Latencies []time.Duration

// At gives a quantile in milliseconds; that of 1 is the longest.
func (l Latencies) At(quantile float64) float64 {
	return Milliseconds(l[int(quantile*float64(len(l)-1))])
}

func (l Latencies) String() string {
	return fmt.Sprintf("p50 %.1f p95 %.1f p99 %.1f max %.1f ms", l.At(.5), l.At(.95), l.At(.99), l.At(1))
}

// Report makes metrics of them, named for what they were counted from.
func (l Latencies) Report(b *testing.B, from string) {
	b.Helper()
	require.NotEmpty(b, l)
	for q, name := range map[float64]string{.5: "p50", .95: "p95", .99: "p99", 1: "max"} {
		b.ReportMetric(l.At(q), name+"-ms-from-"+from)
	}
}

// Milliseconds has fractions of one.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Load is the machine's average of runnable processes of the last minute.
func Load(b testing.TB) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	require.NoError(b, err)
	first, _, _ := strings.Cut(string(text), " ")
	value, err := strconv.ParseFloat(first, 64)
	require.NoError(b, err)
	return value
}
