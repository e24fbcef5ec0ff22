package kafka

import (
	"math"
	"testing"
	"time"

	"github.com/google/uuid"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
)

const week = 7 * 24 * time.Hour

func found(r TopicReport) map[string]string {
	values := map[string]string{}
	for _, s := range r.Settings {
		values[s.Setting] = s.Found
	}
	return values
}

func newTopic(t *testing.T, cfg Config, replication int) TopicSettings {
	t.Helper()
	topic := TopicSettings{Name: "test." + uuid.NewString(), Partitions: 2, Replication: replication, Retention: week}
	require.NoError(t, EnsureTopic(t.Context(), cfg, topic))
	return topic
}

func TestATopicIsCreatedWithItsSettings(t *testing.T) {
	t.Parallel()
	settings := func(replicas, inSync string) map[string]string {
		return map[string]string{
			"replication factor": replicas, "min.insync.replicas": inSync, "retention.ms": "604800000",
			"unclean.leader.election.enable": "false", "cleanup.policy": "delete", "retention.bytes": "-1",
		}
	}
	t.Run("on one broker", func(t *testing.T) {
		t.Parallel()
		cfg, _ := setup(t, 1)
		topic := newTopic(t, cfg, 1)
		report, err := CheckTopic(t.Context(), cfg, topic)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Equal(t, settings("1", "1"), found(report))
		require.Equal(t, 2*week, report.MaxAge, "a segment is closed after a week")
		require.NoError(t, newProducer(t, cfg, topic.Name).Publish(t.Context(), numbered(5, 2)))
	})
	t.Run("on three", func(t *testing.T) {
		t.Parallel()
		cfg := threeBrokers(t)
		topic := newTopic(t, cfg, 3)
		report, err := CheckTopic(t.Context(), cfg, topic)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Equal(t, settings("3", "2"), found(report))
	})
	t.Run("that the brokers have, if none are given", func(t *testing.T) {
		t.Parallel()
		cfg, name := setup(t, 1)
		report, err := CheckTopic(t.Context(), cfg, TopicSettings{Name: name})
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.NotContains(t, found(report), "min.insync.replicas")
	})
}

func threeBrokers(t *testing.T) Config {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	return Config{Brokers: cluster.ListenAddrs()}
}

func TestEachSettingThatIsWeakerIsNamedWithWhatMendsIt(t *testing.T) {
	t.Parallel()
	cfg, _ := setup(t, 1)
	for setting, weak := range map[string]string{
		"min.insync.replicas": "1", "retention.ms": "604799999", "unclean.leader.election.enable": "true",
		"cleanup.policy": "compact", "retention.bytes": "1000000",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			topic := newTopic(t, cfg, 1)
			alter(t, cfg, topic.Name, setting, weak)
			topic.Replication = 2
			report, err := CheckTopic(t.Context(), cfg, topic)
			require.NoError(t, err)
			require.ErrorIs(t, report.Err(), ErrWeakTopic)
			for _, part := range []string{
				topic.Name, setting + " is " + weak, "replication factor is 1 (required: 2)", "kafka-reassign-partitions.sh",
				"kafka-configs.sh --bootstrap-server " + cfg.Brokers[0] + " --alter --topic " + topic.Name + " --add-config ", setting + "=",
			} {
				require.ErrorContains(t, report.Err(), part)
			}
		})
	}
	t.Run("what is stronger is not", func(t *testing.T) {
		t.Parallel()
		topic := newTopic(t, cfg, 1)
		alter(t, cfg, topic.Name, "retention.ms", "-1")
		report, err := CheckTopic(t.Context(), cfg, topic)
		require.NoError(t, err)
		require.NoError(t, report.Err())
		require.Equal(t, time.Duration(math.MaxInt64), report.MaxAge)
	})
}

func alter(t *testing.T, cfg Config, topic, setting, value string) {
	t.Helper()
	res, err := newClient(t, cfg, topic).IncrementalAlterConfigs(t.Context(), &kafkago.IncrementalAlterConfigsRequest{
		Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafkago.IncrementalAlterConfigsRequestConfig{
				{Name: setting, Value: value, ConfigOperation: kafkago.ConfigOperationSet},
			},
		}},
	})
	require.NoError(t, err)
	require.Len(t, res.Resources, 1)
	require.NoError(t, res.Resources[0].Error)
	// A broker learns of the change with a delay.
	require.Eventually(t, func() bool {
		configs, err := topicConfigs(t.Context(), newClient(t, cfg, topic), topic)
		return err == nil && configs[setting] == value
	}, patience, 10*time.Millisecond)
}

func TestTooFewBrokersForTheReplicasIsAnError(t *testing.T) {
	t.Parallel()
	cfg, _ := setup(t, 1)
	topic := TopicSettings{Name: "test." + uuid.NewString(), Partitions: 1, Replication: 3}
	require.ErrorIs(t, EnsureTopic(t.Context(), cfg, topic), kafkago.InvalidReplicationFactor)
}

func TestATopicThatDoesNotExistCannotBeChecked(t *testing.T) {
	t.Parallel()
	cfg, _ := setup(t, 1)
	_, err := CheckTopic(t.Context(), cfg, TopicSettings{Name: "missing", Replication: 1})
	require.ErrorIs(t, err, kafkago.UnknownTopicOrPartition)
}
