package deps

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/kafka"
)

// jarsDir is where `make test` keeps the jars, so that they are fetched once.
const jarsDir = "../../../.local/kafka"

// produce tries several times: a broker may report itself as the leader of a partition shortly before it accepts writes.
func produce(t *testing.T, brokers, topic, value string) {
	t.Helper()
	require.NoError(t, tryProduce(t.Context(), brokers, topic, value, 10))
}

func tryProduce(ctx context.Context, brokers, topic, value string, attempts int) error {
	writer := &kafkago.Writer{
		Addr:         kafkago.TCP(strings.Split(brokers, ",")...),
		Topic:        topic,
		RequiredAcks: kafkago.RequireAll,
		BatchTimeout: time.Millisecond,
		MaxAttempts:  attempts,
		Transport:    &kafkago.Transport{},
	}
	defer func() { _ = writer.Close() }()
	return writer.WriteMessages(ctx, kafkago.Message{Key: []byte("key"), Value: []byte(value)})
}

func createTopic(t *testing.T, brokers, name string) {
	t.Helper()
	require.NoError(t, kafka.EnsureTopic(t.Context(), kafka.Config{Brokers: strings.Split(brokers, ",")},
		kafka.TopicSettings{Name: name, Partitions: 3}))
}

// consume reads n messages as a new consumer group would.
func consume(t *testing.T, brokers, topic string, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	reader := kafkago.NewReader(kafkago.ReaderConfig{
		Brokers: strings.Split(brokers, ","), GroupID: "test", Topic: topic, StartOffset: kafkago.FirstOffset,
		MaxWait: 100 * time.Millisecond,
	})
	defer func() { require.NoError(t, reader.Close()) }()
	values := make([]string, 0, n)
	for range n {
		message, err := reader.FetchMessage(ctx)
		require.NoError(t, err)
		values = append(values, string(message.Value))
		require.NoError(t, reader.CommitMessages(ctx, message))
	}
	return values
}

func TestKafka(t *testing.T) {
	for _, kind := range []Kind{Embedded, Apache} {
		t.Run(string(kind), func(t *testing.T) { testBroker(t, kind) })
	}
}

func testBroker(t *testing.T, kind Kind) {
	t.Helper()
	cfg := KafkaConfig{Dir: dataDir(t), Port: freePort(t), PreferApache: kind == Apache, JarsDir: jarsDir, Log: quiet}
	if kind == Apache {
		if _, err := findApacheKafka(t.Context(), cfg); err != nil {
			t.Skipf("Apache Kafka is not available here: %v", err)
		}
	}
	first := mustStart(t)(StartKafka(t.Context(), cfg))
	require.Equal(t, kind, first.Kind)

	t.Run("writing to a missing topic does not create it", func(t *testing.T) {
		require.ErrorIs(t, tryProduce(t.Context(), first.Address, "unknown", "value", 1), kafkago.UnknownTopicOrPartition)
	})
	t.Run("a second start on the same directory is refused", func(t *testing.T) {
		_, err := StartKafka(t.Context(), cfg)
		require.ErrorIs(t, err, ErrLocked)
	})
	t.Run("messages and committed offsets survive a stop and a start", func(t *testing.T) {
		createTopic(t, first.Address, "first")
		produce(t, first.Address, "first", "one")
		produce(t, first.Address, "first", "two")
		require.Equal(t, []string{"one"}, consume(t, first.Address, "first", 1))
		stop(t, first)

		second := mustStart(t)(StartKafka(t.Context(), cfg))
		require.Equal(t, []string{"two"}, consume(t, second.Address, "first", 1))
	})
}

func TestKafkaWithoutJava(t *testing.T) {
	t.Run("without Java the embedded broker replaces Apache Kafka", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		instance := mustStart(t)(StartKafka(t.Context(), KafkaConfig{
			Dir: dataDir(t), Port: freePort(t), PreferApache: true, JarsDir: t.TempDir(), Log: quiet,
		}))
		require.Equal(t, Embedded, instance.Kind)
	})

	t.Run("with Java but without Maven and jars too", func(t *testing.T) {
		bin := t.TempDir()
		java := "#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, "java"), []byte(java), 0o700))
		t.Setenv("PATH", bin)
		instance := mustStart(t)(StartKafka(t.Context(), KafkaConfig{
			Dir: dataDir(t), Port: freePort(t), PreferApache: true, JarsDir: t.TempDir(), Log: quiet,
		}))
		require.Equal(t, Embedded, instance.Kind)
	})
}

func TestKafkaWithAnAdvertisedAddress(t *testing.T) {
	cfg := KafkaConfig{Port: 9092, Advertise: "127.0.0.1:19092"}
	t.Run("Apache Kafka tells its clients to use it", func(t *testing.T) {
		require.Contains(t, properties(cfg, 9093, "data"), "\nadvertised.listeners=PLAINTEXT://127.0.0.1:19092\n")
		require.Contains(t, properties(cfg, 9093, "data"), "\nlisteners=PLAINTEXT://127.0.0.1:9092,")
	})
	t.Run("the embedded broker refuses it", func(t *testing.T) {
		cfg.Dir, cfg.Log = t.TempDir(), quiet
		_, err := StartKafka(t.Context(), cfg)
		require.ErrorIs(t, err, errAdvertise)
	})
}
