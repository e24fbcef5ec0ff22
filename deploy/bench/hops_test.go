package bench_test

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// trace reads where the orders were from what the services store anyway, and from the commits that PostgreSQL remembers.
func (f *acceptedFixture) trace(b *testing.B, w *way) {
	b.Helper()
	w.recorded = f.times(b, "events", "SELECT subject_id::text, recorded_at FROM feed", nil)
	orderOf := f.texts(b, "events", "SELECT event_id::text, subject_id::text FROM feed")
	w.committed = f.times(b, "orders", "SELECT id::text, pg_xact_commit_timestamp(xmin) FROM orders", nil)
	w.fannedOut = f.times(b, "webhook", "SELECT event_id::text, pg_xact_commit_timestamp(xmin) FROM events", orderOf)
	w.sent = f.times(b, "webhook", "SELECT event_id::text, min(started_at) FROM attempts GROUP BY event_id", orderOf)
	w.published = f.published(b)
}

// times reads pairs of an id and a time. With names, an id is replaced by its name.
func (f *acceptedFixture) times(b *testing.B, service, query string, names map[string]string) map[string]time.Time {
	b.Helper()
	rows, err := f.Connect(b, service).Query(b.Context(), query)
	require.NoError(b, err)
	out := map[string]time.Time{}
	var (
		id string
		at time.Time
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		if names != nil {
			id = names[id]
		}
		out[id] = at
		return nil
	})
	require.NoError(b, err)
	return out
}

func (f *acceptedFixture) texts(b *testing.B, service, query string) map[string]string {
	b.Helper()
	rows, err := f.Connect(b, service).Query(b.Context(), query)
	require.NoError(b, err)
	out := map[string]string{}
	var key, value string
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		out[key] = value
		return nil
	})
	require.NoError(b, err)
	return out
}

// published reads the topic: the time of a message is when the relay published it.
func (f *acceptedFixture) published(b *testing.B) map[string]time.Time {
	b.Helper()
	out := map[string]time.Time{}
	broker := f.Config.KafkaBrokers[0]
	partitions, err := kafka.LookupPartitions(b.Context(), "tcp", broker, f.Config.Topic())
	require.NoError(b, err)
	for _, p := range partitions {
		conn, err := kafka.DialLeader(b.Context(), "tcp", broker, p.Topic, p.ID)
		require.NoError(b, err)
		end, err := conn.ReadLastOffset()
		require.NoError(b, err)
		require.NoError(b, conn.Close())
		if end == 0 {
			continue
		}
		reader := kafka.NewReader(kafka.ReaderConfig{
			Brokers: []string{broker}, Topic: p.Topic, Partition: p.ID, MaxBytes: 10 << 20,
			MaxWait: 10 * time.Millisecond, // Close waits for the request that finds no further message.
		})
		for reader.Offset() < end {
			m, err := reader.ReadMessage(b.Context())
			require.NoError(b, err)
			var change eventsv1.Change
			require.NoError(b, proto.Unmarshal(m.Value, &change))
			out[change.GetSubjectId()] = m.Time
		}
		require.NoError(b, reader.Close())
	}
	return out
}

// histogram is the sum in seconds and the number of what a histogram measured.
type histogram struct{ sum, count float64 }

func (h histogram) minus(before histogram) histogram {
	return histogram{h.sum - before.sum, h.count - before.count}
}

// mean is in milliseconds; 0 if nothing was measured.
func (h histogram) mean() float64 { return h.sum / max(h.count, 1) * 1000 }

var publishingLine = regexp.MustCompile(`(?m)^messaging_client_operation_duration_seconds_(sum|count)\{.*messaging_operation_name="send".*\} (\S+)$`)

// publishing is how long the relay's requests to the broker took, as its program measures; nothing if it is no process of its own.
func (f *acceptedFixture) publishing(b *testing.B) (h histogram) {
	b.Helper()
	if len(f.Running) == 0 {
		return h
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, f.Of(b, "events").Metrics+"/metrics", http.NoBody)
	require.NoError(b, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(b, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(b, err)
	require.NoError(b, res.Body.Close())
	for _, found := range publishingLine.FindAllSubmatch(text, -1) {
		value, err := strconv.ParseFloat(string(found[2]), 64)
		require.NoError(b, err)
		if string(found[1]) == "sum" {
			h.sum += value
		} else {
			h.count += value
		}
	}
	return h
}
