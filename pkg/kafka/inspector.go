package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// ErrNoMessage means that a partition has no message at an offset: it ends before, or has deleted it.
var ErrNoMessage = errors.New("kafka: no message at this offset")

// Inspector looks up single messages, the ends of partitions and the offsets of consumer groups. It is safe for concurrent use.
type Inspector struct {
	topic     string
	transport *kafkago.Transport
	client    *kafkago.Client
}

// NewInspector makes an inspector of a topic. It does not connect before the first call.
func NewInspector(cfg Config, topic string, tel *telemetry.Telemetry) (*Inspector, error) {
	cluster, err := open(cfg, tel)
	if err != nil {
		return nil, err
	}
	transport := cluster.transport(topic)
	return &Inspector{
		topic: topic, transport: transport,
		client: &kafkago.Client{Addr: cluster.address(), Transport: transport, Timeout: inspectTimeout},
	}, nil
}

const inspectTimeout = 5 * time.Second

// Close ends the connections.
func (i *Inspector) Close() { i.transport.CloseIdleConnections() }

// startFresh drops connections and metadata after an error: the leader may have moved or a connection may have died.
func (i *Inspector) startFresh(err *error) {
	if *err != nil && !errors.Is(*err, ErrNoMessage) {
		i.Close()
	}
}

// Message returns the message at an offset of a partition, or ErrNoMessage.
func (i *Inspector) Message(ctx context.Context, partition int, offset int64) (m Message, err error) {
	defer i.startFresh(&err)
	res, err := i.client.Fetch(ctx, &kafkago.FetchRequest{
		Topic: i.topic, Partition: partition, Offset: offset, MinBytes: 1, MaxBytes: 1, MaxWait: inspectTimeout / 10,
	})
	if err == nil {
		err = res.Error
	}
	if errors.Is(err, kafkago.OffsetOutOfRange) {
		return Message{}, ErrNoMessage
	}
	if err != nil {
		return Message{}, fmt.Errorf("kafka: read %s/%d at offset %d: %w", i.topic, partition, offset, err)
	}
	return messageAt(res.Records, partition, offset)
}

// messageAt finds the message in a response, which begins with the batch that has it.
func messageAt(records kafkago.RecordReader, partition int, offset int64) (Message, error) {
	for {
		r, err := records.ReadRecord()
		if errors.Is(err, io.EOF) || err == nil && r.Offset > offset {
			return Message{}, ErrNoMessage
		}
		if err != nil {
			return Message{}, fmt.Errorf("kafka: read record: %w", err)
		}
		if r.Offset < offset {
			continue
		}
		m := Message{Headers: r.Headers, Partition: partition, Offset: r.Offset, Time: r.Time}
		if m.Key, err = kafkago.ReadAll(r.Key); err == nil {
			m.Value, err = kafkago.ReadAll(r.Value)
		}
		return m, err
	}
}

// Spans returns what Kafka has of each partition, in the order of their numbers.
func (i *Inspector) Spans(ctx context.Context) (spans []Span, err error) {
	defer i.startFresh(&err)
	ids, err := partitionIDs(ctx, i.client, i.topic)
	if err != nil {
		return nil, fmt.Errorf("kafka: partitions of %s: %w", i.topic, err)
	}
	var asked []kafkago.OffsetRequest
	for _, id := range ids {
		asked = append(asked, kafkago.FirstOffsetOf(id), kafkago.LastOffsetOf(id))
	}
	res, err := i.client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{Topics: map[string][]kafkago.OffsetRequest{i.topic: asked}})
	if err != nil {
		return nil, fmt.Errorf("kafka: offsets of %s: %w", i.topic, err)
	}
	spans = make([]Span, len(ids))
	for at, id := range ids {
		found := slices.IndexFunc(res.Topics[i.topic], func(o kafkago.PartitionOffsets) bool { return o.Partition == id })
		if found < 0 {
			return nil, fmt.Errorf("kafka: no offsets of %s/%d in the response", i.topic, id)
		}
		o := res.Topics[i.topic][found]
		if o.Error != nil {
			return nil, fmt.Errorf("kafka: offsets of %s/%d: %w", i.topic, id, o.Error)
		}
		spans[at] = Span{Partition: id, From: o.FirstOffset, To: o.LastOffset}
	}
	return spans, nil
}

// Committed returns the offsets that a group has committed. Partitions without one are missing.
func (i *Inspector) Committed(ctx context.Context, group string) (committed map[int]int64, err error) {
	defer i.startFresh(&err)
	ids, err := partitionIDs(ctx, i.client, i.topic)
	if err != nil {
		return nil, fmt.Errorf("kafka: partitions of %s: %w", i.topic, err)
	}
	res, err := i.client.OffsetFetch(ctx, &kafkago.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{i.topic: ids}})
	if err == nil {
		err = res.Error
	}
	if errors.Is(err, kafkago.GroupIdNotFound) {
		return map[int]int64{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("kafka: offsets of group %s: %w", group, err)
	}
	committed = make(map[int]int64, len(ids))
	for _, p := range res.Topics[i.topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("kafka: offset of group %s in %s/%d: %w", group, i.topic, p.Partition, p.Error)
		}
		if p.CommittedOffset >= 0 {
			committed[p.Partition] = p.CommittedOffset
		}
	}
	return committed, nil
}
