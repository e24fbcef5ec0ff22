package kafka

import (
	"bytes"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/partnergifting/platform/pkg/testenv"
)

func TestPublish(t *testing.T) {
	t.Parallel()
	t.Run("messages of a key stay in order, in one partition", func(t *testing.T) {
		cfg, topic := setup(t, 4)
		p := newProducer(t, cfg, topic)
		msgs := numbered(5000, 7)
		require.NoError(t, p.Publish(t.Context(), msgs[:2000]))
		require.NoError(t, p.Publish(t.Context(), msgs[2000:]))

		log := readLog(t, cfg, topic)
		require.Equal(t, expected(msgs), firstSeen(log))
		home := map[string]int{}
		total := 0
		for partition, msgs := range log {
			total += len(msgs)
			for _, m := range msgs {
				if p, known := home[string(m.Key)]; known {
					require.Equal(t, p, partition)
				}
				home[string(m.Key)] = partition
			}
		}
		require.Equal(t, 5000, total, "no duplicates without a failure")
	})

	t.Run("several large messages become several batches", func(t *testing.T) {
		cfg, topic := setup(t, 1)
		p := newProducer(t, cfg, topic)
		var msgs []Message
		for i := range byte(4) {
			msgs = append(msgs, Message{Key: []byte("k"), Value: bytes.Repeat([]byte{'a' + i}, 500_000)})
		}
		require.NoError(t, p.Publish(t.Context(), msgs))
		require.Equal(t, expected(msgs), firstSeen(readLog(t, cfg, topic)))
	})

	t.Run("a message without key or above the limit is refused and nothing is written", func(t *testing.T) {
		cfg, topic := setup(t, 1)
		p := newProducer(t, cfg, topic)
		good := Message{Key: []byte("k"), Value: []byte("v")}
		require.ErrorIs(t, p.Publish(t.Context(), []Message{good, {Value: []byte("v")}}), ErrNoKey)
		large := Message{Key: []byte("k"), Value: make([]byte, 900_000)}
		require.ErrorIs(t, p.Publish(t.Context(), []Message{good, large}), ErrTooLarge)
		require.Empty(t, readLog(t, cfg, topic))
	})

	t.Run("a message whose time is hours ahead of the broker's is refused and not written", func(t *testing.T) {
		cfg, topic := setup(t, 1)
		if testenv.Lookup(testenv.KafkaKind) != "apache" {
			t.Skip("the embedded broker takes any time") // With Java and Maven, as in the workflow, Apache Kafka runs instead.
		}
		p := newProducer(t, cfg, topic)
		msgs := numbered(1, 1)
		msgs[0].Time = time.Now().Add(2 * time.Hour)
		require.ErrorIs(t, p.Publish(t.Context(), msgs), ErrTime)
		require.Empty(t, readLog(t, cfg, topic))
		msgs[0].Time = time.Now().Add(-2 * time.Hour)
		require.NoError(t, p.Publish(t.Context(), msgs))
		require.WithinDuration(t, msgs[0].Time, readLog(t, cfg, topic)[0][0].Time, time.Second)
	})

	t.Run("publishing to a topic that does not exist fails and does not create it", func(t *testing.T) {
		cfg, topic := setup(t, 1)
		missing := topic + ".missing"
		p := newProducer(t, cfg, missing)
		for range 2 {
			err := p.Publish(t.Context(), numbered(1, 1))
			require.ErrorIs(t, err, kafkago.UnknownTopicOrPartition)
		}
	})
}

func TestPublishRefusesAChangedNumberOfPartitions(t *testing.T) {
	t.Parallel()
	cfg, topic := setup(t, 2)
	p := newProducer(t, cfg, topic)
	require.NoError(t, p.Publish(t.Context(), numbered(1, 1)))

	client := newClient(t, cfg, topic)
	res, err := client.CreatePartitions(t.Context(), &kafkago.CreatePartitionsRequest{
		Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: 3}},
	})
	require.NoError(t, err)
	require.NoError(t, res.Errors[topic])

	require.Eventually(t, func() bool {
		err = p.Publish(t.Context(), numbered(1, 1))
		return err != nil
	}, patience, metadataAge/10)
	require.ErrorIs(t, err, ErrPartitionsChanged)
}

func TestProducerSettings(t *testing.T) {
	t.Parallel()
	t.Run("all replicas must acknowledge, in one uncompressed batch per request", func(t *testing.T) {
		cluster, cfg, topic := setupFake(t, 1)
		var seen []*kmsg.ProduceRequest
		cluster.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			seen = append(seen, req.(*kmsg.ProduceRequest))
			return nil, nil, false
		})
		p := newProducer(t, cfg, topic)
		require.NoError(t, p.Publish(t.Context(), numbered(10, 1)))

		require.Len(t, seen, 1)
		require.EqualValues(t, kafkago.RequireAll, seen[0].Acks)
		require.Positive(t, seen[0].TimeoutMillis)
		require.Less(t, int64(seen[0].TimeoutMillis), writeTimeout.Milliseconds(), "the broker answers before the client gives up")
		var batch kmsg.RecordBatch
		require.NoError(t, batch.ReadFrom(seen[0].Topics[0].Partitions[0].Records))
		require.EqualValues(t, 10, batch.NumRecords)
		require.Zero(t, batch.Attributes)
	})

	t.Run("keys go where the Java client puts them", func(t *testing.T) {
		p := newProducer(t, Config{}, "t")
		// The hashes that Kafka's own test of its murmur2 expects.
		hashes := map[string]int32{
			"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536,
			"a-little-bit-longer-string": -1486304829, "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
			"abc": 479470107,
		}
		ids := make([]int, 1000)
		for i := range ids {
			ids[i] = i
		}
		for key, hash := range hashes {
			want := int(hash&0x7fffffff) % len(ids)
			require.Equal(t, want, p.balancer.Balance(kafkago.Message{Key: []byte(key)}, ids...), key)
		}
	})
}

func TestEnsureTopic(t *testing.T) {
	t.Parallel()
	cfg, topic := setup(t, 3)
	client := newClient(t, cfg, topic)
	ids, err := partitionIDs(t.Context(), client, topic)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2}, ids)

	t.Run("an existing topic is not changed", func(t *testing.T) {
		require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: topic, Partitions: 5}))
		ids, err := partitionIDs(t.Context(), client, topic)
		require.NoError(t, err)
		require.Len(t, ids, 3)
	})

	t.Run("two concurrent calls both succeed", func(t *testing.T) {
		another := topic + ".another"
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- EnsureTopic(t.Context(), cfg, TopicSettings{Name: another, Partitions: 1}) }()
		}
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
	})

	t.Run("a topic that another program is creating is waited for", func(t *testing.T) {
		cluster, cfg, topic := setupFake(t, 1)
		missing := topic + ".missing"
		other := make(chan error, 1)
		cluster.ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
			res := req.ResponseKind().(*kmsg.CreateTopicsResponse)
			res.Topics = []kmsg.CreateTopicsResponseTopic{{Topic: missing, ErrorCode: int16(kafkago.TopicAlreadyExists)}}
			go func() { other <- EnsureTopic(t.Context(), cfg, TopicSettings{Name: missing, Partitions: 1}) }()
			return res, nil, true
		})
		require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: missing, Partitions: 1}))
		require.NoError(t, <-other)
	})
}
