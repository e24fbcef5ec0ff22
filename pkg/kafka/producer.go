package kafka

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/telemetry"
)

var (
	// ErrNoKey refuses a message that would land on a random partition.
	ErrNoKey = errors.New("kafka: message has no key")
	// ErrTooLarge refuses a message that a broker with default settings would refuse.
	ErrTooLarge = errors.New("kafka: message is too large")
	// ErrPartitionsChanged refuses to write after the number of partitions of the topic has changed, because keys
	// would move to other partitions while their earlier messages are still unread.
	ErrPartitionsChanged = errors.New("kafka: number of partitions has changed")
	// ErrTime is the refusal of messages whose time is too far ahead of the broker's clock. None of them was written.
	ErrTime = errors.New("kafka: time of a message is too far ahead")
)

// writeTimeout bounds one produce request, replication included.
const writeTimeout = 10 * time.Second

// Producer writes to one topic and keeps the order of every key.
//
// It sends produce requests itself and does not use the library's Writer, because the Writer cannot keep that order. The Writer
// splits messages into batches per partition, and when one fails it still sends the next. If batch A failed and batch B was
// written, repeating both writes B, A, B, and a reader that drops duplicates sees B before A. The Writer also keeps writing
// messages whose caller has given up, and waits for batches to fill up.
//
// Here a partition has at most one request in flight. The request carries one record batch, which the broker appends whole or
// not at all, and the next is sent only after the acknowledgement of the one before. So a message is never written before an
// earlier one of its partition. A request that timed out may still be written later, but only as a duplicate: its messages are
// repeated before anything newer is sent.
type Producer struct {
	topic     string
	transport *kafkago.Transport
	client    *kafkago.Client
	balancer  kafkago.Balancer
	limits    limits
	measured  *batches

	// lock is held by whoever publishes.
	lock sync.Mutex
	// partitions is the number seen first, zero before that.
	partitions int
}

// balancer is the partitioner of the Java client and of librdkafka's murmur2: producers in any language agree on the partition
// of a key.
var balancer = kafkago.Murmur2Balancer{Consistent: true}

// PartitionOf returns the partition of a key in a topic with a number of partitions.
func PartitionOf(key []byte, partitions int) int {
	ids := make([]int, partitions)
	for i := range ids {
		ids[i] = i
	}
	return balancer.Balance(kafkago.Message{Key: key}, ids...)
}

// NewProducer returns a producer for a topic, which must exist. It does not connect before the first Publish. Its
// telemetry measures and traces what it sends.
func NewProducer(cfg Config, topic string, tel *telemetry.Telemetry) (*Producer, error) {
	cluster, err := newCluster(cfg, tel)
	if err != nil {
		return nil, err
	}
	transport := cluster.transport(topic)
	p := &Producer{
		topic:     topic,
		transport: transport,
		client:    &kafkago.Client{Addr: cluster.address(), Transport: transport, Timeout: writeTimeout},
		balancer:  balancer,
		limits:    defaultLimits,
	}
	return p, p.measure(tel)
}

// Publish writes the messages and returns nil when all in-sync replicas have every one of them. It sets their Partition and
// Offset. On an error some may have been written: the caller publishes the same messages again, from the oldest one on, and
// the readers see duplicates. Publish does not retry: the caller knows best when to continue.
//
// One Publish runs at a time; others wait for it. Different partitions are written in parallel.
func (p *Producer) Publish(ctx context.Context, msgs []Message) error {
	if err := p.limits.check(msgs); err != nil {
		return err
	}
	if len(msgs) == 0 {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	err := p.measured.around(ctx, msgs, func(ctx context.Context, traced []Message) error { return p.write(ctx, traced, msgs) })
	if err != nil {
		// The leader may have moved or a connection may have died. Without cached connections and metadata, the caller's next
		// try starts fresh.
		p.transport.CloseIdleConnections()
	}
	return err
}

// Close waits for a running Publish and then closes the connections.
func (p *Producer) Close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.transport.CloseIdleConnections()
}

// write writes the messages and sets the positions of their originals.
func (p *Producer) write(ctx context.Context, msgs, originals []Message) error {
	ids, err := p.partitionIDs(ctx)
	if err != nil {
		return fmt.Errorf("kafka: partitions of %s: %w", p.topic, err)
	}
	partitions, indexes := make(map[int][]Message), make(map[int][]int)
	for i, m := range msgs {
		id := p.balancer.Balance(kafkago.Message{Key: m.Key}, ids...)
		partitions[id], indexes[id] = append(partitions[id], m), append(indexes[id], i)
	}
	var group errgroup.Group
	for id, msgs := range partitions {
		group.Go(func() error { return p.writePartition(ctx, id, msgs, indexes[id], originals) })
	}
	return group.Wait()
}

// writePartition writes the messages of one partition chunk by chunk and stops at the first error, to keep the order.
func (p *Producer) writePartition(ctx context.Context, partition int, msgs []Message, indexes []int, originals []Message) error {
	for chunk := range p.limits.chunks(msgs) {
		first, err := p.produce(ctx, partition, chunk)
		if err != nil {
			return fmt.Errorf("kafka: write to %s/%d: %w", p.topic, partition, err)
		}
		for n := range chunk {
			original := &originals[indexes[n]]
			original.Partition, original.Offset = partition, first+int64(n)
		}
		indexes = indexes[len(chunk):]
	}
	return nil
}

// produce writes one record batch and returns the offset of its first message.
func (p *Producer) produce(ctx context.Context, partition int, chunk []Message) (first int64, err error) {
	now := time.Now()
	records := make([]kafkago.Record, len(chunk))
	for i, m := range chunk {
		if m.Time.IsZero() {
			m.Time = now
		}
		records[i] = kafkago.Record{
			Time: m.Time, Key: kafkago.NewBytes(m.Key), Value: kafkago.NewBytes(m.Value), Headers: m.Headers,
		}
	}
	res, err := p.client.Produce(ctx, &kafkago.ProduceRequest{
		Topic:        p.topic,
		Partition:    partition,
		RequiredAcks: kafkago.RequireAll,
		Records:      kafkago.NewRecordReader(records...),
	})
	if err != nil {
		return 0, err
	}
	if errors.Is(res.Error, kafkago.InvalidTimestamp) {
		return 0, fmt.Errorf("%w: %w", ErrTime, res.Error)
	}
	return res.BaseOffset, res.Error
}

// Partitions returns the number of partitions of the topic, mostly from the transport's cache.
func (p *Producer) Partitions(ctx context.Context) (int, error) {
	ids, err := partitionIDs(ctx, p.client, p.topic)
	if err != nil {
		return 0, fmt.Errorf("kafka: partitions of %s: %w", p.topic, err)
	}
	return len(ids), nil
}

// partitionIDs reads the topic's partitions, mostly from the transport's cache. It never creates the topic.
func (p *Producer) partitionIDs(ctx context.Context) ([]int, error) {
	ids, err := partitionIDs(ctx, p.client, p.topic)
	if err != nil {
		return nil, err
	}
	if p.partitions == 0 {
		p.partitions = len(ids)
	}
	if len(ids) != p.partitions {
		return nil, fmt.Errorf("%w: %d, was %d", ErrPartitionsChanged, len(ids), p.partitions)
	}
	return ids, nil
}

// limits bound one record batch, so that a broker with default settings (message.max.bytes of 1 MiB) takes it.
type limits struct {
	messages int
	bytes    int
}

var defaultLimits = limits{messages: 1000, bytes: 900_000}

const (
	// recordOverhead is an upper bound of the bytes that the length fields of one record need.
	recordOverhead = 64
	headerOverhead = 10
)

func size(m Message) int {
	n := recordOverhead + len(m.Key) + len(m.Value)
	for _, h := range m.Headers {
		n += headerOverhead + len(h.Key) + len(h.Value)
	}
	return n
}

// check refuses messages that cannot be written, before any of them is.
func (l limits) check(msgs []Message) error {
	for i, m := range msgs {
		if len(m.Key) == 0 {
			return fmt.Errorf("%w (message %d)", ErrNoKey, i)
		}
		if n := size(m); n > l.bytes {
			return fmt.Errorf("%w (message %d: %d bytes, at most %d)", ErrTooLarge, i, n, l.bytes)
		}
	}
	return nil
}

// chunks cuts a partition's messages, in order, into slices that fit one record batch each.
func (l limits) chunks(msgs []Message) iter.Seq[[]Message] {
	return func(yield func([]Message) bool) {
		for len(msgs) > 0 {
			n, bytes := 0, 0
			for n < len(msgs) && n < l.messages {
				bytes += size(msgs[n])
				if n > 0 && bytes > l.bytes {
					break
				}
				n++
			}
			if !yield(msgs[:n:n]) {
				return
			}
			msgs = msgs[n:]
		}
	}
}
