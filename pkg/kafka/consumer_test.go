package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// sink is a handler that keeps what it was given.
type sink struct {
	lock    sync.Mutex
	batches [][]Message
	count   int
}

func (s *sink) handle(_ context.Context, partition int, msgs []Message) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for i, m := range msgs {
		if m.Partition != partition || m.Offset != msgs[0].Offset+int64(i) {
			panic(fmt.Sprintf("batch of partition %d is not contiguous: %v", partition, msgs))
		}
	}
	s.batches = append(s.batches, msgs)
	s.count += len(msgs)
	return nil
}

// log returns what was handled, by partition, in the order of handling.
func (s *sink) log() map[int][]Message {
	s.lock.Lock()
	defer s.lock.Unlock()
	log := map[int][]Message{}
	for _, b := range s.batches {
		log[b[0].Partition] = append(log[b[0].Partition], b...)
	}
	return log
}

func (s *sink) waitFor(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		s.lock.Lock()
		defer s.lock.Unlock()
		return s.count >= n
	}, patience, 5*time.Millisecond)
}

func options(topic, group string) ConsumerOptions {
	return ConsumerOptions{Topic: topic, Group: group, Offsets: committed{}, ID: idOf}
}

func idOf(m Message) string { return string(m.Value) }

// committed continues where the group has committed, as if everything before that were stored.
type committed struct{}

func (committed) Stored(_ context.Context, _ int, reached int64) (Stored, error) {
	return Stored{Next: reached}, nil
}

func (committed) Move(context.Context, int, int64, int64) error { return nil }

func (committed) Durable(context.Context) error { return nil }

func newGroup() string { return "group." + uuid.NewString() }

// start runs a consumer and returns the function that stops it.
func start(t *testing.T, c *Consumer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			require.NoError(t, err)
		case <-time.After(patience):
			require.FailNow(t, "Run did not return")
		}
	})
	t.Cleanup(stop)
	return stop
}

func TestConsumer(t *testing.T) {
	t.Parallel()
	t.Run("a new group reads everything from the oldest message on, in order, headers included", func(t *testing.T) {
		cfg, topic := setup(t, 3)
		msgs := numbered(3000, 7)
		msgs[0].Headers = []Header{{Key: "traceparent", Value: []byte("00-1")}}
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
		var s sink
		start(t, newConsumer(t, cfg, options(topic, newGroup()), s.handle))
		s.waitFor(t, len(msgs))
		require.Equal(t, readLog(t, cfg, topic), s.log())
		require.Less(t, len(s.batches), len(msgs)/5, "messages come in batches")
	})

	t.Run("the consumer waits for a missing topic without joining the group", func(t *testing.T) {
		cluster, cfg, _ := setupFake(t, 1)
		joins := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Observe: true, Count: -1})
		asked := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Observe: true, Count: -1})
		topic := "test." + uuid.NewString()
		var s sink
		start(t, newConsumer(t, cfg, options(topic, newGroup()), s.handle))
		require.Eventually(t, func() bool { return asked.Hits() > 2 }, patience, 10*time.Millisecond)
		require.Zero(t, joins.Hits())
		require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: topic, Partitions: 1}))
		msgs := numbered(5, 1)
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
		s.waitFor(t, len(msgs))
	})

	t.Run("the consumer waits for a topic that was deleted, and reads the one that replaces it", func(t *testing.T) {
		cluster, cfg, topic := setupFake(t, 1)
		msgs := numbered(5, 1)
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
		var s sink
		start(t, newConsumer(t, cfg, options(topic, newGroup()), s.handle))
		s.waitFor(t, len(msgs))
		require.NoError(t, cluster.DeleteTopic(topic))
		joins := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup}, Observe: true, Count: -1})
		asked := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Observe: true, Count: -1})
		require.Eventually(t, func() bool { return joins.Hits() > 0 }, patience, 10*time.Millisecond, "the group notices it")
		before := asked.Hits()
		require.Eventually(t, func() bool { return asked.Hits() > before+10 }, patience, 10*time.Millisecond)
		require.Less(t, joins.Hits(), 10, "it does not join again and again")

		require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: topic, Partitions: 1}))
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), numbered(7, 1)))
		s.waitFor(t, len(msgs)+7)
	})

	t.Run("handled messages are not handled again by the next member", func(t *testing.T) {
		cfg, topic := setup(t, 3)
		p, group := newProducer(t, cfg, topic), newGroup()
		msgs := numbered(600, 7)
		for i := range 3 {
			part := msgs[i*200 : (i+1)*200]
			require.NoError(t, p.Publish(t.Context(), part))
			var s sink
			stop := start(t, newConsumer(t, cfg, options(topic, group), s.handle))
			s.waitFor(t, len(part))
			stop()
			require.Equal(t, expected(part), firstSeen(s.log()))
			require.Equal(t, len(part), s.count)
		}
	})

	t.Run("after an error the handler gets the same messages again and nothing is skipped", func(t *testing.T) {
		cfg, topic := setup(t, 1)
		msgs := numbered(50, 1)
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
		var s sink
		var failed [][]Message
		c, count := countingConsumer(t, cfg, options(topic, newGroup()), func(ctx context.Context, partition int, batch []Message) error {
			if len(failed) < 3 {
				failed = append(failed, batch)
				return errors.New("database is away")
			}
			return s.handle(ctx, partition, batch)
		})
		start(t, c)
		s.waitFor(t, len(msgs))
		require.Equal(t, s.batches[0], failed[0])
		require.Equal(t, failed[0], failed[1])
		require.Equal(t, failed[0], failed[2])
		require.Equal(t, expected(msgs), firstSeen(s.log()))
		require.Equal(t, 3, count("handler.errors"))
	})

	t.Run("messages of a stopped handler are handled by the next member", func(t *testing.T) {
		cfg, topic := setup(t, 1)
		group := newGroup()
		msgs := numbered(50, 1)
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
		entered := make(chan struct{})
		stop := start(t, newConsumer(t, cfg, options(topic, group), func(ctx context.Context, _ int, _ []Message) error {
			close(entered)
			<-ctx.Done()
			return ctx.Err()
		}))
		<-entered
		stop()
		var s sink
		start(t, newConsumer(t, cfg, options(topic, group), s.handle))
		s.waitFor(t, len(msgs))
		require.Equal(t, expected(msgs), firstSeen(s.log()))
	})

	t.Run("members that join and leave share the partitions and miss nothing", func(t *testing.T) {
		cfg, topic := setup(t, 4)
		p, group := newProducer(t, cfg, topic), newGroup()
		msgs := numbered(900, 13)
		var first, second sink
		stopFirst := start(t, newConsumer(t, cfg, options(topic, group), first.handle))
		require.NoError(t, p.Publish(t.Context(), msgs[:300]))
		first.waitFor(t, 300)

		joined := make(chan struct{})
		onceJoined := sync.OnceFunc(func() { close(joined) })
		start(t, newConsumer(t, cfg, options(topic, group), func(ctx context.Context, partition int, batch []Message) error {
			onceJoined()
			return second.handle(ctx, partition, batch)
		}))
		sent := 300
		require.Eventually(t, func() bool {
			if sent < 600 {
				require.NoError(t, p.Publish(t.Context(), msgs[sent:sent+5]))
				sent += 5
			}
			select {
			case <-joined:
				return true
			default:
				return false
			}
		}, patience, 50*time.Millisecond)
		stopFirst()
		require.NoError(t, p.Publish(t.Context(), msgs[sent:]))
		require.Eventually(t, func() bool {
			all := map[string]bool{}
			for _, s := range []*sink{&first, &second} {
				for _, batch := range s.log() {
					for _, m := range batch {
						all[string(m.Value)] = true
					}
				}
			}
			return len(all) == len(msgs)
		}, patience, 20*time.Millisecond)
	})
}
