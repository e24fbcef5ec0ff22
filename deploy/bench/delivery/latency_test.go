package delivery_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// latencies are sorted.
type latencies []time.Duration

func (l latencies) at(quantile float64) float64 {
	return float64(l[int(quantile*float64(len(l)-1))].Microseconds()) / 1000
}

func (l latencies) String() string {
	return fmt.Sprintf("p50 %.1f p95 %.1f p99 %.1f max %.1f ms", l.at(.5), l.at(.95), l.at(.99), l.at(1))
}

// between gives the times from one to the other of all that are in both.
func between(from, to map[string]time.Time) latencies {
	var out latencies
	for id, begin := range from {
		if end, found := to[id]; found {
			out = append(out, end.Sub(begin))
		}
	}
	slices.Sort(out)
	return out
}

// recorded gives when the changes of the orders were recorded, a moment before their commit.
func (p *platform) recorded(b *testing.B, of map[string]time.Time) map[string]time.Time {
	b.Helper()
	rows, err := p.database(b, "events").Query(b.Context(), `SELECT subject_id::text, recorded_at FROM feed`)
	require.NoError(b, err)
	out := make(map[string]time.Time, len(of))
	var (
		id string
		at time.Time
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		if _, asked := of[id]; asked {
			out[id] = at
		}
		return nil
	})
	require.NoError(b, err)
	return out
}

// report tells the latencies of changes until they arrived, the CPU time they took, and how busy the machine was.
func (p *platform) report(b *testing.B, answered, arrived map[string]time.Time, used usage) {
	b.Helper()
	byRecord, byAnswer := between(p.recorded(b, answered), arrived), between(answered, arrived)
	require.NotEmpty(b, byRecord)
	for q, name := range map[float64]string{.5: "p50", .95: "p95", .99: "p99", 1: "max"} {
		b.ReportMetric(byRecord.at(q), name+"-ms-from-record")
		b.ReportMetric(byAnswer.at(q), name+"-ms-from-answer")
	}
	thousands := float64(len(byRecord)) / 1000 * (measuredTime() + warmUp).Seconds() / measuredTime().Seconds()
	b.ReportMetric(used.sum()/thousands, "cpu-s/1000")
	b.ReportMetric(load(b), "load")
	b.ReportMetric(0, "ns/op")
	b.Logf("%d changes; from record: %s; from answer: %s; CPU s/1000: platform %.2f, database %.2f, broker %.2f; load %.1f",
		len(byRecord), byRecord, byAnswer, used.platform/thousands, used.database/thousands, used.broker/thousands, load(b))
}

// load is the machine's average of runnable processes of the last minute.
func load(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/loadavg")
	require.NoError(b, err)
	first, _, _ := strings.Cut(string(text), " ")
	value, err := strconv.ParseFloat(first, 64)
	require.NoError(b, err)
	return value
}
