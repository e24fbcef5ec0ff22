package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
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
		for _, batch := range s.batches {
			require.LessOrEqual(t, len(batch), maxBatch)
		}
	})

	t.Run("the consumer waits for a missing topic", func(t *testing.T) {
		cluster, cfg, _ := setupFake(t, 1)
		asked := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Observe: true, Count: -1})
		topic := "test." + uuid.NewString()
		var s sink
		start(t, newConsumer(t, cfg, options(topic, newGroup()), s.handle))
		require.Eventually(t, func() bool { return asked.Hits() > 2 }, patience, 10*time.Millisecond)
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
		opts := options(topic, newGroup())
		opts.FetchTimeout = time.Second
		c := newConsumer(t, cfg, opts, s.handle)
		start(t, c)
		s.waitFor(t, len(msgs))
		require.NoError(t, cluster.DeleteTopic(topic))
		require.Eventually(t, func() bool { return len(c.reading.now()) == 0 }, patience, 10*time.Millisecond)

		require.NoError(t, EnsureTopic(t.Context(), cfg, TopicSettings{Name: topic, Partitions: 2}))
		require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), numbered(7, 5)))
		s.waitFor(t, len(msgs)+7)
		require.Len(t, c.reading.now(), 2)
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

	t.Run("instances that come and go divide the partitions, and nothing is missed or handled twice", func(t *testing.T) {
		cfg, topic := setup(t, 4)
		p := newProducer(t, cfg, topic)
		opts := options(topic, newGroup())
		opts.Leases = postgres.Leases{URL: pgtest.NewURL(t), Class: 1, Log: telemetry.Discard().Logger}
		msgs := numbered(900, 13)
		var s sink
		first := newConsumer(t, cfg, opts, s.handle)
		stopFirst := start(t, first)
		require.NoError(t, p.Publish(t.Context(), msgs[:300]))
		s.waitFor(t, 300)

		second := newConsumer(t, cfg, opts, s.handle)
		start(t, second)
		sent := 300
		require.Eventually(t, func() bool {
			if sent < 600 {
				require.NoError(t, p.Publish(t.Context(), msgs[sent:sent+5]))
				sent += 5
			}
			return len(first.reading.now()) == 2 && len(second.reading.now()) == 2
		}, patience, 50*time.Millisecond)
		stopFirst()
		require.NoError(t, p.Publish(t.Context(), msgs[sent:]))
		s.waitFor(t, len(msgs))
		require.Equal(t, expected(msgs), firstSeen(s.log()))
		require.Equal(t, len(msgs), s.count)
	})
}

func TestOffsetsAreCommitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lock sync.Mutex
		var all []map[int]int64
		failing, tried := false, 0
		c := newCommits(func(_ context.Context, offsets map[int]int64) error {
			lock.Lock()
			defer lock.Unlock()
			if tried++; failing {
				return errors.New("no coordinator")
			}
			all = append(all, offsets)
			return nil
		}, committed{}, telemetry.Discard().Logger)
		newest := func() []map[int]int64 {
			synctest.Wait()
			lock.Lock()
			defer lock.Unlock()
			defer func() { all = nil }()
			return all
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.run(ctx)

		c.found(0, 5)
		c.handled(0, 5)
		require.Empty(t, newest(), "Kafka has it")
		<-time.After(commitInterval)
		c.handled(0, 7)
		c.handled(1, 3)
		<-time.After(commitInterval)
		require.Equal(t, []map[int]int64{{0: 7, 1: 3}}, newest())

		lock.Lock()
		failing = true
		lock.Unlock()
		c.handled(0, 9)
		<-time.After(3 * commitInterval)
		require.Empty(t, newest())
		lock.Lock()
		failing = false
		lock.Unlock()
		<-time.After(commitInterval)
		require.Equal(t, []map[int]int64{{0: 9}}, newest())

		c.handled(1, 4)
		c.release(ctx, 1)
		require.Equal(t, []map[int]int64{{1: 4}}, newest(), "before the next reader begins")
		<-time.After(recommitInterval)
		require.Equal(t, []map[int]int64{{0: 9}}, newest(), "again; that of 1 is another reader's")

		lock.Lock()
		failing = true
		lock.Unlock()
		c.handled(0, 10)
		c.release(ctx, 0)
		synctest.Wait()
		attempts := tried
		for partition := range 12 {
			c.handled(partition, 20)
			c.release(ctx, partition)
		}
		require.LessOrEqual(t, tried, attempts+1, "twelve releases do not wait for twelve failures")
	})
}
