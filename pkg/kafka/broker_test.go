package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
	"github.com/partnergifting/platform/pkg/testenv"
)

const patience = 20 * time.Second

// setup returns the broker to test against and a topic of its own.
func setup(t *testing.T, partitions int) (Config, string) {
	t.Helper()
	if given := testenv.Lookup(testenv.KafkaBrokers); given != "" {
		t.Logf("broker: %s", given)
		return withTopic(t, strings.Split(given, ","), partitions)
	}
	_, cfg, topic := setupFake(t, partitions)
	return cfg, topic
}

// setupFake always uses an in-process broker, for tests that inject failures.
func setupFake(t *testing.T, partitions int) (*kfake.Cluster, Config, string) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	t.Logf("broker: in process (kfake) at %v", cluster.ListenAddrs())
	cfg, topic := withTopic(t, cluster.ListenAddrs(), partitions)
	return cluster, cfg, topic
}

func withTopic(t *testing.T, brokers []string, partitions int) (Config, string) {
	t.Helper()
	topic := "test." + uuid.NewString()
	cfg := Config{Brokers: brokers, ClientID: "kafka-test"}
	require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: topic, Partitions: partitions}))
	return cfg, topic
}

func newProducer(t *testing.T, cfg Config, topic string) *Producer {
	t.Helper()
	p, err := NewProducer(cfg, topic, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func newConsumer(t *testing.T, cfg Config, opts ConsumerOptions, handler Handler) *Consumer {
	t.Helper()
	c, _ := countingConsumer(t, cfg, opts, handler)
	return c
}

// countingConsumer also returns a function that reads the consumer's counters.
func countingConsumer(t *testing.T, cfg Config, opts ConsumerOptions, handler Handler) (*Consumer, func(counter string) int) {
	t.Helper()
	tel := telemetrytest.New()
	c, err := NewConsumer(cfg, opts, tel.Telemetry, handler)
	require.NoError(t, err)
	return c, func(counter string) (n int) {
		for _, value := range tel.Values(t, "gifting.kafka."+counter) {
			n += int(value)
		}
		return n
	}
}

// newClient returns a client of the library.
func newClient(t *testing.T, cfg Config, topic string) *kafkago.Client {
	t.Helper()
	cluster, err := newCluster(cfg, telemetry.Discard())
	require.NoError(t, err)
	return &kafkago.Client{Addr: cluster.address(), Transport: cluster.transport(topic)}
}

// numbered returns messages 0…n-1, whose keys alternate.
func numbered(n, keys int) []Message {
	msgs := make([]Message, n)
	for i := range msgs {
		msgs[i] = Message{
			Key:   fmt.Appendf(nil, "tenant-%d", i%keys),
			Value: fmt.Appendf(nil, "%06d", i),
		}
	}
	return msgs
}

// readLog returns all messages of the topic, by partition.
func readLog(t *testing.T, cfg Config, topic string) map[int][]Message {
	t.Helper()
	i, err := NewInspector(cfg, topic, telemetry.Discard())
	require.NoError(t, err)
	defer i.Close()
	spans, err := i.Spans(t.Context())
	require.NoError(t, err)
	log := map[int][]Message{}
	for _, span := range spans {
		require.NoError(t, i.Read(t.Context(), span, func(_ context.Context, msgs []Message) error {
			log[span.Partition] = append(log[span.Partition], msgs...)
			return nil
		}))
	}
	return log
}

// firstSeen is what a reader that drops duplicates sees: the first appearance of each value, by key.
func firstSeen(log map[int][]Message) map[string][]string {
	seen := map[string]bool{}
	order := map[string][]string{}
	for _, msgs := range log {
		for _, m := range msgs {
			if v := string(m.Value); !seen[v] {
				seen[v] = true
				order[string(m.Key)] = append(order[string(m.Key)], v)
			}
		}
	}
	return order
}

// expected is what firstSeen returns when nothing is lost or out of order.
func expected(msgs []Message) map[string][]string {
	order := map[string][]string{}
	for _, m := range msgs {
		order[string(m.Key)] = append(order[string(m.Key)], string(m.Value))
	}
	return order
}
