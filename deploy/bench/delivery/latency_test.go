package delivery_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

// between gives the times from one to the other of all that are in both.
func between(from, to map[string]time.Time) stack.Latencies {
	var out stack.Latencies
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

// report tells the latencies of the writer's changes until they arrived, the CPU time they took, how late the writer
// was, and how busy the machine was.
func (p *platform) report(b *testing.B, w *writer, arrived map[string]time.Time, used usage) {
	b.Helper()
	byDue, byRecord, byAnswer := between(w.due, arrived), between(p.recorded(b, w.answered), arrived), between(w.answered, arrived)
	byDue.Report(b, "due")
	byRecord.Report(b, "record")
	byAnswer.Report(b, "answer")
	late, load := stack.Milliseconds(w.late), stack.Load(b)
	b.ReportMetric(late, "max-ms-late")
	thousands := float64(len(byRecord)) / 1000 * (measuredTime() + warmUp).Seconds() / measuredTime().Seconds()
	b.ReportMetric(used.sum()/thousands, "cpu-s/1000")
	b.ReportMetric(used.database/thousands, "cpu-s/1000-database")
	b.ReportMetric(load, "load")
	b.ReportMetric(0, "ns/op")
	b.Logf("%d changes; from due: %s; from record: %s; from answer: %s; calls at most %.1f ms late; "+
		"CPU s/1000: platform %.2f, database %.2f, broker %.2f; load %.1f", len(byRecord), byDue, byRecord, byAnswer, late,
		used.platform/thousands, used.database/thousands, used.broker/thousands, load)
}
