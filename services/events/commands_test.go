package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/events/internal/feed"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// redrive runs the command over the last hour and returns its sums.
func (f *fixture) redrive(t *testing.T, more ...string) (sum feed.Redriven) {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{
		"--from", time.Now().Add(-time.Hour).Format(time.RFC3339), "--to", time.Now().Add(time.Hour).Format(time.RFC3339), "--json",
	}, more...)
	cfg := f.cfg
	cfg.Retention = 720 * time.Hour
	require.NoError(t, Redrive(t.Context(), cfg, args, &out))
	var results []feed.Redriven
	require.NoError(t, json.Unmarshal(out.Bytes(), &results))
	for _, r := range results {
		sum.Changes, sum.Missing, sum.Invalid = sum.Changes+r.Changes, sum.Missing+r.Missing, sum.Invalid+r.Invalid
	}
	return sum
}

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: f.cfg.Database.URL, MaxConns: 2})
	require.NoError(t, err)
	defer pool.Close()
	pgtest.Exec(t, pool, sql, args...)
}

func TestRedriveAppendsWhatTheFeedHasNot(t *testing.T) {
	t.Parallel()
	f := setup(t)
	defer f.start(t)()
	want := f.addEvents(t, 40)
	f.requireFeed(t, want)
	require.Equal(t, feed.Redriven{Changes: 40}, f.redrive(t))

	lost := want[10:15]
	f.exec(t, "DELETE FROM feed WHERE event_id = ANY($1)", lost)
	left := slices.Concat(want[:10], want[15:])
	require.Equal(t, feed.Redriven{Changes: 40, Missing: 5}, f.redrive(t, "--dry-run"))
	f.requireFeed(t, left)
	require.Equal(t, feed.Redriven{Changes: 40, Missing: 5}, f.redrive(t))
	f.requireFeed(t, append(left, lost...))
	require.Equal(t, feed.Redriven{Changes: 40}, f.redrive(t), "again")

	lost = append(lost, left[0])
	f.cfg.Sources[0].URL = pgtest.WithPoolSetting(t, f.cfg.Sources[0].URL)
	for _, source := range f.sources {
		pgtest.Exec(t, source, "UPDATE outbox SET confirmed_at = now()")
	}
	f.exec(t, "DELETE FROM feed WHERE event_id = ANY($1)", lost)
	require.Equal(t, feed.Redriven{Changes: 40, Missing: 6}, f.redrive(t, "--outbox", "--dry-run"))
	require.Equal(t, feed.Redriven{Changes: 40, Missing: 6}, f.redrive(t, "--outbox"))
	require.Zero(t, f.redrive(t).Missing)

	var out bytes.Buffer
	require.NoError(t, Redrive(t.Context(), f.cfg, []string{"--from", "2026-01-01T00:00:00Z", "--to", "2036-01-01T00:00:00Z"}, &out))
	require.Contains(t, out.String(), "partition 2")
	require.Regexp(t, `all +40 +0 +0`, out.String())
	require.ErrorIs(t, Redrive(t.Context(), f.cfg, []string{"--from", "2026-01-01T00:00:00Z"}, &out), errSpan)
}

func TestSkipLetsAPartitionContinueAfterAMessageThatIsNotAChange(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.KafkaPartitions = 1
	stop := f.start(t)
	want := f.addEvents(t, 3)
	f.requireFeed(t, want)
	stop()
	producer, err := kafka.NewProducer(f.cfg.Kafka, f.cfg.KafkaTopic, telemetry.Discard())
	require.NoError(t, err)
	require.NoError(t, producer.Publish(t.Context(), []kafka.Message{{Key: []byte(f.tenant), Value: []byte("\xffnonsense")}}))
	producer.Close()

	pool, err := postgres.Open(t.Context(), f.cfg.Database)
	require.NoError(t, err)
	defer pool.Close()
	stored, err := store.Offsets{Store: store.New(pool)}.Stored(t.Context(), 0, -1)
	require.NoError(t, err)
	skip := func(to int64, more ...string) (string, error) {
		var out bytes.Buffer
		err := Skip(t.Context(), f.cfg, append([]string{"--partition", "0", "--to", strconv.FormatInt(to, 10)}, more...), &out)
		return out.String(), err
	}
	_, err = skip(stored.Next)
	require.ErrorContains(t, err, "is not after the stored offset")
	_, err = skip(stored.Next + 2)
	require.ErrorContains(t, err, "is after the end of the partition")
	said, err := skip(stored.Next+1, "--dry-run")
	require.NoError(t, err)
	require.Contains(t, said, "offsets that would be skipped: 1")
	said, err = skip(stored.Next + 1)
	require.NoError(t, err)
	require.Contains(t, said, fmt.Sprintf("stored up to offset %d, Kafka has 0 to %d", stored.Next, stored.Next+1))

	stop = f.start(t)
	defer stop()
	want = append(want, f.addEvents(t, 3)...)
	f.requireFeed(t, want)
}

func TestTheFeedMovesToATopicWithMorePartitions(t *testing.T) {
	t.Parallel()
	f := setup(t)
	stop := f.start(t)
	want := f.addEvents(t, 10)
	f.requireFeed(t, want)
	stop()
	f.cfg.KafkaTopic, f.cfg.KafkaPartitions = "test."+uuid.NewString(), 7
	stop = f.start(t)
	want = append(want, f.addEvents(t, 10)...)
	require.Never(t, func() bool { return len(f.feed(t)) > 10 }, time.Second, pollInterval, "the topic is not read")
	inspector, err := kafka.NewInspector(f.cfg.Kafka, f.cfg.KafkaTopic, telemetry.Discard())
	require.NoError(t, err)
	defer inspector.Close()
	spans, err := inspector.Spans(t.Context())
	require.NoError(t, err)
	require.Len(t, spans, 7)
	for _, span := range spans {
		require.Equal(t, span.From, span.To, "the topic is not written either")
	}
	stop()

	var out bytes.Buffer
	require.NoError(t, ForgetTopic(t.Context(), f.cfg, &out))
	stop = f.start(t)
	defer stop()
	f.requireFeed(t, want)
}
