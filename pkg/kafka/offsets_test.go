package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// ledger is a store that keeps its offsets beside its data, as a database does.
type ledger struct {
	lock sync.Mutex
	ids  []string
	has  map[string]bool
	at   map[int]Stored
}

func newLedger() *ledger { return &ledger{has: map[string]bool{}, at: map[int]Stored{}} }

var errMoved = errors.New("the offset has moved")

func (l *ledger) Stored(_ context.Context, partition int, _ int64) (Stored, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if at, ok := l.at[partition]; ok {
		return at, nil
	}
	return Stored{Next: -1}, nil
}

func (l *ledger) Move(_ context.Context, partition int, from, to int64) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if at, ok := l.at[partition]; ok && at.Next != from {
		return errMoved
	}
	l.at[partition] = Stored{Next: to}
	return nil
}

func (l *ledger) Durable(context.Context) error { return nil }

func (l *ledger) handle(_ context.Context, partition int, msgs []Message) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	at := l.at[partition]
	if msgs[0].Offset > at.Next {
		return fmt.Errorf("%w: %d after %d", ErrBeyondStored, msgs[0].Offset, at.Next)
	}
	for _, m := range msgs {
		if id := idOf(m); !l.has[id] {
			l.has[id] = true
			l.ids = append(l.ids, id)
		}
	}
	if last := msgs[len(msgs)-1]; last.Offset+1 > at.Next {
		l.at[partition] = Stored{Next: last.Offset + 1, LastID: idOf(last), LastTime: last.Time}
	}
	return nil
}

// goBack returns to the state in which the ledger had stored the first n messages of its only partition.
func (l *ledger) goBack(n int) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.ids, l.has = l.ids[:n:n], map[string]bool{}
	for _, id := range l.ids {
		l.has[id] = true
	}
	l.at[0] = Stored{Next: int64(n), LastID: l.ids[n-1], LastTime: time.Now()}
}

func (l *ledger) all() []string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return append([]string{}, l.ids...)
}

func (l *ledger) waitFor(t *testing.T, msgs []Message) {
	t.Helper()
	var want []string
	for _, m := range msgs {
		want = append(want, idOf(m))
	}
	require.Eventually(t, func() bool { return len(l.all()) >= len(want) }, patience, 5*time.Millisecond)
	require.Equal(t, want, l.all())
}

func (l *ledger) options(topic, group string) ConsumerOptions {
	opts := options(topic, group)
	opts.Offsets, opts.FetchTimeout = l, time.Second
	return opts
}

// setupLedger returns a topic with one partition and a producer that has written the messages.
func setupLedger(t *testing.T, msgs []Message) (Config, string, *Producer) {
	t.Helper()
	cfg, topic := setup(t, 1)
	p := newProducer(t, cfg, topic)
	require.NoError(t, p.Publish(t.Context(), msgs))
	return cfg, topic, p
}

func TestAStoreThatGoesBackIsFilledAgain(t *testing.T) {
	t.Parallel()
	t.Run("while its consumer runs", func(t *testing.T) {
		msgs := numbered(60, 1)
		cfg, topic, p := setupLedger(t, msgs[:40])
		l := newLedger()
		c, count := countingConsumer(t, cfg, l.options(topic, newGroup()), l.handle)
		start(t, c)
		l.waitFor(t, msgs[:40])
		l.goBack(15)
		require.NoError(t, p.Publish(t.Context(), msgs[40:]))
		l.waitFor(t, msgs)
		require.Equal(t, 1, count("store.setbacks"))
		require.Zero(t, count("handler.errors"))
	})

	t.Run("although no message comes", func(t *testing.T) {
		msgs := numbered(40, 1)
		cfg, topic, _ := setupLedger(t, msgs)
		l := newLedger()
		c, count := countingConsumer(t, cfg, l.options(topic, newGroup()), l.handle)
		start(t, c)
		l.waitFor(t, msgs)
		l.goBack(15)
		l.waitFor(t, msgs)
		require.Equal(t, 1, count("store.setbacks"))
	})

	t.Run("between two consumers, of which the second finds the offset that the first committed", func(t *testing.T) {
		msgs := numbered(60, 1)
		cfg, topic, p := setupLedger(t, msgs[:40])
		l, group := newLedger(), newGroup()
		stop := start(t, newConsumer(t, cfg, l.options(topic, group), l.handle))
		l.waitFor(t, msgs[:40])
		stop()
		l.goBack(15)
		require.NoError(t, p.Publish(t.Context(), msgs[40:]))
		c, count := countingConsumer(t, cfg, l.options(topic, group), l.handle)
		start(t, c)
		l.waitFor(t, msgs)
		require.Equal(t, 1, count("store.setbacks"))
	})
}

// emptyStore is a ledger that was made anew and continues where the partition had got.
type emptyStore struct{ *ledger }

func (e emptyStore) Stored(ctx context.Context, partition int, reached int64) (Stored, error) {
	stored, err := e.ledger.Stored(ctx, partition, reached)
	if stored.Next < 0 && reached > 0 {
		stored = Stored{Next: reached, Emptied: true}
		err = e.Move(ctx, partition, -1, reached)
	}
	return stored, err
}

func TestAStoreThatWasMadeAnewIsReported(t *testing.T) {
	t.Parallel()
	msgs := numbered(60, 1)
	cfg, topic, p := setupLedger(t, msgs[:40])
	before, group := newLedger(), newGroup()
	stop := start(t, newConsumer(t, cfg, before.options(topic, group), before.handle))
	before.waitFor(t, msgs[:40])
	stop()
	after := newLedger()
	options := after.options(topic, group)
	options.Offsets = emptyStore{after}
	c, count := countingConsumer(t, cfg, options, after.handle)
	start(t, c)
	require.NoError(t, p.Publish(t.Context(), msgs[40:]))
	after.waitFor(t, msgs[40:])
	require.Equal(t, 1, count("store.setbacks"))
}

// replaceTopic makes the topic anew: its offsets begin again.
func replaceTopic(t *testing.T, cfg Config, topic string) {
	t.Helper()
	client := newClient(t, cfg, topic)
	res, err := client.DeleteTopics(t.Context(), &kafkago.DeleteTopicsRequest{Topics: []string{topic}})
	require.NoError(t, err)
	require.NoError(t, res.Errors[topic])
	inspector, err := NewInspector(cfg, topic, telemetry.Discard())
	require.NoError(t, err)
	defer inspector.Close()
	require.Eventually(t, func() bool {
		defer inspector.Close() // Its metadata may be of before.
		_, err := inspector.partitions(t.Context())
		return IsMissing(err)
	}, patience, 10*time.Millisecond)
	anew := TopicSettings{Name: topic, Partitions: 1}
	require.Eventually(t, func() bool { return EnsureTopic(t.Context(), cfg, anew) == nil }, patience, 50*time.Millisecond)
}

func TestALostTailIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]int{"as long as before": 40, "longer than before": 55, "shorter than before": 7} {
		t.Run("while no consumer runs, and is "+name, func(t *testing.T) {
			msgs := numbered(40+newer, 1)
			cfg, topic, _ := setupLedger(t, msgs[:40])
			l, group := newLedger(), newGroup()
			stop := start(t, newConsumer(t, cfg, l.options(topic, group), l.handle))
			l.waitFor(t, msgs[:40])
			stop()
			replaceTopic(t, cfg, topic)
			publishAsRelay(t, newProducer(t, cfg, topic), msgs[40:], newer)
			c, count := countingConsumer(t, cfg, l.options(topic, group), l.handle)
			start(t, c)
			l.waitFor(t, msgs)
			require.Equal(t, 1, count("reader.lost_tails"))
		})
	}

	t.Run("although the clock of the last message was ahead", func(t *testing.T) {
		msgs := numbered(95, 1)
		cfg, topic, _ := setupLedger(t, msgs[:40])
		l, group := newLedger(), newGroup()
		stop := start(t, newConsumer(t, cfg, l.options(topic, group), l.handle))
		l.waitFor(t, msgs[:40])
		stop()
		last := l.at[0]
		last.LastTime = last.LastTime.Add(time.Hour)
		l.at[0] = last
		replaceTopic(t, cfg, topic)
		publishAsRelay(t, newProducer(t, cfg, topic), msgs[40:], 55)
		start(t, newConsumer(t, cfg, l.options(topic, group), l.handle))
		l.waitFor(t, msgs)
	})

	for name, away := range map[string]bool{"while a consumer runs": false, "while a consumer cannot fetch": true} {
		t.Run(name, func(t *testing.T) {
			msgs := numbered(100, 1)
			cfg, topic, _ := setupLedger(t, msgs[:40])
			l := newLedger()
			c, count := countingConsumer(t, cfg, l.options(topic, newGroup()), l.handle)
			disconnect, connect := disconnectable(c)
			start(t, c)
			l.waitFor(t, msgs[:40])
			if away {
				disconnect()
			}
			replaceTopic(t, cfg, topic)
			publishAsRelay(t, newProducer(t, cfg, topic), msgs[40:], len(msgs)-40)
			connect()
			l.waitFor(t, msgs)
			require.Positive(t, count("reader.lost_tails"))
		})
	}
}

// disconnectable returns what closes the connections with which a consumer fetches and refuses new ones, and what ends that.
func disconnectable(c *Consumer) (disconnect, connect func()) {
	var (
		guard sync.Mutex
		away  bool
		conns []net.Conn
	)
	dial := c.dial
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		guard.Lock()
		defer guard.Unlock()
		if away {
			return nil, net.ErrClosed
		}
		conn, err := dial(ctx, network, address)
		if err == nil {
			conns = append(conns, conn)
		}
		return conn, err
	}
	disconnect = func() {
		guard.Lock()
		defer guard.Unlock()
		away = true
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	connect = func() {
		guard.Lock()
		defer guard.Unlock()
		away = false
	}
	return disconnect, connect
}

// dropBefore removes the beginning of the only partition's log, as retention does.
func dropBefore(t *testing.T, cfg Config, topic string, first int64) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(cfg.Brokers...))
	require.NoError(t, err)
	defer client.Close()
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	partition.Offset = first
	of := kmsg.NewDeleteRecordsRequestTopic()
	of.Topic, of.Partitions = topic, append(of.Partitions, partition)
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Topics, req.TimeoutMillis = append(req.Topics, of), int32(patience.Milliseconds())
	res, err := req.RequestWith(t.Context(), client)
	require.NoError(t, err)
	require.Zero(t, res.Topics[0].Partitions[0].ErrorCode)
}

func TestMessagesThatWereNeverStored(t *testing.T) {
	t.Parallel()
	t.Run("stop their partition until a person moves the stored offset", func(t *testing.T) {
		msgs := numbered(60, 1)
		cfg, topic, p := setupLedger(t, msgs[:20])
		l, group := newLedger(), newGroup()
		stop := start(t, newConsumer(t, cfg, l.options(topic, group), l.handle))
		l.waitFor(t, msgs[:20])
		stop()
		require.NoError(t, p.Publish(t.Context(), msgs[20:]))
		dropBefore(t, cfg, topic, 30)

		c, count := countingConsumer(t, cfg, l.options(topic, group), l.handle)
		start(t, c)
		require.Eventually(t, func() bool {
			return count("reader.gaps") == 1 && count("consumer.blocked") == 1
		}, patience, 5*time.Millisecond)
		l.waitFor(t, msgs[:20])
		require.NoError(t, l.Move(t.Context(), 0, 20, 30))
		l.waitFor(t, append(msgs[:20:20], msgs[30:]...))
		require.Eventually(t, func() bool { return count("consumer.blocked") == 0 }, patience, 5*time.Millisecond)
		require.Equal(t, 1, count("reader.gaps"))
	})

	t.Run("are counted once, however often the partition is read", func(t *testing.T) {
		c, count := countingConsumer(t, Config{Brokers: []string{"127.0.0.1:1"}}, options("t", "g"), (&sink{}).handle)
		var log strings.Builder
		c.log = slog.New(slog.NewTextHandler(&log, nil))
		s := newPartition(c, 0).stream(position{next: 5})
		require.True(t, s.pass(t.Context(), []Message{{Offset: 5}}))
		require.Zero(t, count("reader.gaps"))
		require.False(t, s.pass(t.Context(), []Message{{Offset: 6}, {Offset: 9}}))
		require.False(t, s.pass(t.Context(), []Message{{Offset: 9}}))
		require.Equal(t, 1, count("reader.gaps"))
		require.Equal(t, 1, strings.Count(log.String(), "messages are missing"))
		s.reminded = s.reminded.Add(-remindInterval)
		require.False(t, s.pass(t.Context(), []Message{{Offset: 9}}))
		require.Equal(t, 2, strings.Count(log.String(), "messages are missing"))
		require.EqualValues(t, 7, s.at.next)
	})
}

func TestNothingIsReadBeforeTheNumberOfPartitionsIsAccepted(t *testing.T) {
	t.Parallel()
	msgs := numbered(5, 1)
	cfg, topic, _ := setupLedger(t, msgs)
	l := newLedger()
	var accepted atomic.Bool
	opts := l.options(topic, newGroup())
	opts.CheckPartitions = func(_ context.Context, count int) error {
		if count != 1 || !accepted.Load() {
			return ErrPartitionsChanged
		}
		return nil
	}
	c, count := countingConsumer(t, cfg, opts, l.handle)
	start(t, c)
	require.Eventually(t, func() bool { return count("consumer.blocked") == 1 }, patience, 5*time.Millisecond)
	require.Empty(t, l.all())
	accepted.Store(true)
	l.waitFor(t, msgs)
	require.Zero(t, count("consumer.blocked"))
}

// unsafe is a ledger that loses everything in a crash until it is told to be durable.
type unsafe struct {
	*ledger
	asked   chan struct{}
	durable chan error
}

func (u unsafe) Durable(ctx context.Context) error {
	select {
	case u.asked <- struct{}{}:
	default:
	}
	select {
	case err := <-u.durable:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestNothingIsCommittedThatIsNotDurable(t *testing.T) {
	t.Parallel()
	msgs := numbered(20, 1)
	cfg, topic, _ := setupLedger(t, msgs)
	i, err := NewInspector(cfg, topic, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(i.Close)
	store := unsafe{newLedger(), make(chan struct{}, 1), make(chan error)}
	options := store.options(topic, newGroup())
	options.Offsets = store
	start(t, newConsumer(t, cfg, options, store.handle))
	store.waitFor(t, msgs)
	committed := func() map[int]int64 {
		next, err := i.Committed(t.Context(), options.Group)
		require.NoError(t, err)
		return next
	}
	for _, err := range []error{errors.New("no connection"), nil} {
		<-store.asked
		require.Empty(t, committed())
		store.durable <- err
	}
	close(store.durable)
	require.Eventually(t, func() bool { return committed()[0] == int64(len(msgs)) }, patience, 10*time.Millisecond)
}
