package relay

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

type topicFixture struct {
	*Topic
	cluster *kfake.Cluster
	tel     *telemetrytest.Record
	log     *strings.Builder
}

// setupTopic returns a topic that exists with another retention than it must have.
func setupTopic(t *testing.T, settings TopicSettings) topicFixture {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	cfg := kafka.Config{Brokers: cluster.ListenAddrs()}
	settings.Name, settings.Partitions, settings.Replication = "changes", 1, 1
	existing := settings.TopicSettings
	existing.Retention = 24 * time.Hour
	require.NoError(t, kafka.EnsureTopic(t.Context(), cfg, existing))
	f := topicFixture{cluster: cluster, tel: telemetrytest.New(), log: &strings.Builder{}}
	f.tel.Logger = slog.New(slog.NewTextHandler(f.log, nil))
	f.Topic, err = NewTopic(cfg, settings, f.tel.Telemetry)
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

func weakSettings(required bool) TopicSettings {
	return TopicSettings{
		Required: required, TopicSettings: kafka.TopicSettings{Retention: 48 * time.Hour},
		CheckPartitions: func(context.Context, int) error { return nil },
	}
}

func TestATopicThatIsWeakerThanRequired(t *testing.T) {
	t.Parallel()
	t.Run("is refused in production, before it is used and before the program is ready", func(t *testing.T) {
		t.Parallel()
		f := setupTopic(t, weakSettings(true))
		err := f.Run(t.Context())
		require.ErrorIs(t, err, kafka.ErrWeakTopic)
		require.ErrorContains(t, err, "retention.ms is 86400000 (required: 172800000)")
		require.ErrorContains(t, err, "--add-config retention.ms=172800000")
		require.ErrorIs(t, f.Ready(t.Context()), errNotChecked)
		require.ErrorIs(t, f.Publish(t.Context(), []kafka.Message{{Key: []byte("k"), Value: []byte("v")}}), kafka.ErrWeakTopic)
	})
	t.Run("is logged elsewhere", func(t *testing.T) {
		t.Parallel()
		f := setupTopic(t, weakSettings(false))
		testenv.Run(t, f.Run)
		require.Eventually(t, func() bool { return f.Ready(t.Context()) == nil }, 20*time.Second, 5*time.Millisecond)
		require.NoError(t, f.Publish(t.Context(), []kafka.Message{{Key: []byte("k"), Value: []byte("v")}}))
		require.Contains(t, f.log.String(), weakTopic)
	})
	t.Run("is measured", func(t *testing.T) {
		t.Parallel()
		f := setupTopic(t, weakSettings(false))
		require.Empty(t, f.tel.Values(t, "gifting.kafka.topic.weaker"), "nothing is known yet")
		require.Equal(t, 9*24*time.Hour, f.MaxAge(), "as required, and a segment of a week")
		require.NoError(t, f.Ensure(t.Context()))
		found := f.tel.Values(t, "gifting.kafka.topic.weaker")
		require.InDelta(t, 1, found["setting=retention.ms"], 0)
		require.InDelta(t, 0, found["setting=min.insync.replicas"], 0)
		require.InDelta(t, 0, found["setting=replication factor"], 0)
		age := f.tel.Values(t, "gifting.kafka.topic.max_age")[""]
		require.InDelta(t, (8 * 24 * time.Hour).Seconds(), age, 0, "and a segment of a week")
		require.Equal(t, 8*24*time.Hour, f.MaxAge())
		f.cluster.Close()
		require.Error(t, f.check(t.Context()))
		require.Empty(t, f.tel.Values(t, "gifting.kafka.topic.max_age"), "it is not known whether it has changed")
		require.Equal(t, 8*24*time.Hour, f.MaxAge())
	})
}

func TestATopicThatWasDeletedIsCreatedAgain(t *testing.T) {
	t.Parallel()
	checks := 0
	settings := weakSettings(false)
	settings.CheckPartitions = func(context.Context, int) error { checks++; return nil }
	f := setupTopic(t, settings)
	msgs := []kafka.Message{{Key: []byte("k"), Value: []byte("v")}}
	require.NoError(t, f.Publish(t.Context(), msgs))
	require.NoError(t, f.cluster.DeleteTopic("changes"))
	require.Eventually(t, func() bool { return f.Publish(t.Context(), msgs) == nil }, 20*time.Second, 5*time.Millisecond)
	require.Equal(t, 2, checks, "the new topic may have another number of partitions")
}

func TestAProgramIsReadyWithoutKafka(t *testing.T) {
	t.Parallel()
	f := topicFixture{tel: telemetrytest.New()}
	var err error
	f.Topic, err = NewTopic(kafka.Config{Brokers: []string{"127.0.0.1:1"}}, weakSettings(true), f.tel.Telemetry)
	require.NoError(t, err)
	testenv.Run(t, f.Run)
	require.Eventually(t, func() bool { return f.Ready(t.Context()) == nil }, 20*time.Second, 5*time.Millisecond)
}
