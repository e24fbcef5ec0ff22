package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// ErrNoMessage means that a partition has no message at an offset: it ends before, or has deleted it.
var ErrNoMessage = errors.New("kafka: no message at this offset")

// Inspector looks up single messages, the offsets of partitions and those of consumer groups. It does not use the connections of a
// reader, so their problems do not affect it. It is safe for concurrent use.
type Inspector struct {
	topic     string
	transport *kafkago.Transport
	client    *kafkago.Client
}

// NewInspector makes an inspector of a topic. It does not connect before the first call.
func NewInspector(cfg Config, topic string, tel *telemetry.Telemetry) (*Inspector, error) {
	cluster, err := newCluster(cfg, tel)
	if err != nil {
		return nil, err
	}
	return cluster.inspector(topic), nil
}

func (c *cluster) inspector(topic string) *Inspector {
	transport := c.transport(topic)
	return &Inspector{
		topic: topic, transport: transport,
		client: &kafkago.Client{Addr: c.address(), Transport: transport, Timeout: inspectTimeout},
	}
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
func (i *Inspector) Message(ctx context.Context, partition int, offset int64) (Message, error) {
	msgs, _, err := i.fetch(ctx, partition, offset, fetchBounds{messages: 1, bytes: 1, wait: inspectTimeout / 10})
	if err == nil && (len(msgs) == 0 || msgs[0].Offset != offset) {
		err = ErrNoMessage
	}
	if err != nil {
		return Message{}, err
	}
	return msgs[0], nil
}

// fetchBounds limits a fetch, which returns at least one batch, and says how long the broker waits for the first message.
type fetchBounds struct {
	messages, bytes int
	wait            time.Duration
}

// fetch returns the messages of a partition from an offset on, none if none came within the wait, and the partition's end.
// ErrNoMessage means that the partition ends before the offset, or begins after it.
func (i *Inspector) fetch(
	ctx context.Context, partition int, offset int64, most fetchBounds,
) (msgs []Message, end int64, err error) {
	defer i.startFresh(&err)
	res, err := i.client.Fetch(ctx, &kafkago.FetchRequest{
		Topic: i.topic, Partition: partition, Offset: offset, MinBytes: 1, MaxBytes: int64(most.bytes), MaxWait: most.wait,
	})
	if err == nil {
		err = res.Error
	}
	if errors.Is(err, kafkago.OffsetOutOfRange) {
		return nil, 0, ErrNoMessage
	}
	if err == nil {
		msgs, err = messagesFrom(res.Records, partition, offset, most.messages)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("kafka: read %s/%d at offset %d: %w", i.topic, partition, offset, err)
	}
	return msgs, res.HighWatermark, nil
}

// messagesFrom reads the messages of a response from an offset on. Its first batch may begin before.
func messagesFrom(records kafkago.RecordReader, partition int, offset int64, most int) (msgs []Message, err error) {
	for len(msgs) < most {
		r, err := records.ReadRecord()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if r.Offset < offset {
			continue
		}
		m := Message{Headers: r.Headers, Partition: partition, Offset: r.Offset, Time: r.Time}
		if m.Key, err = kafkago.ReadAll(r.Key); err == nil {
			m.Value, err = kafkago.ReadAll(r.Value)
		}
		if err != nil {
			return nil, err
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

// Spans returns what Kafka has of each partition, in the order of their numbers.
func (i *Inspector) Spans(ctx context.Context) ([]Span, error) {
	ids, err := i.partitions(ctx)
	if err != nil {
		return nil, err
	}
	return i.spans(ctx, ids...)
}

// span returns what Kafka has of a partition: its oldest offset and its end.
func (i *Inspector) span(ctx context.Context, partition int) (Span, error) {
	spans, err := i.spans(ctx, partition)
	if err != nil {
		return Span{Partition: partition}, err
	}
	return spans[0], nil
}

func (i *Inspector) spans(ctx context.Context, partitions ...int) ([]Span, error) {
	var requests []kafkago.OffsetRequest
	for _, id := range partitions {
		requests = append(requests, kafkago.FirstOffsetOf(id), kafkago.LastOffsetOf(id))
	}
	found, err := i.offsets(ctx, requests...)
	if err != nil {
		return nil, err
	}
	spans := make([]Span, len(partitions))
	for n, id := range partitions {
		spans[n] = Span{Partition: id, From: found[id].FirstOffset, To: found[id].LastOffset}
	}
	return spans, nil
}

// offsetAt returns the offset of the first message of a partition that is not older than a time, or a negative one if all are.
func (i *Inspector) offsetAt(ctx context.Context, partition int, at time.Time) (int64, error) {
	found, err := i.offsets(ctx, kafkago.TimeOffsetOf(partition, at))
	for offset := range found[partition].Offsets {
		return offset, err
	}
	return -1, err
}

// offsets returns the requested offsets by partition. It fails if those of one are missing.
func (i *Inspector) offsets(
	ctx context.Context, requests ...kafkago.OffsetRequest,
) (found map[int]kafkago.PartitionOffsets, err error) {
	defer i.startFresh(&err)
	res, err := i.client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{Topics: map[string][]kafkago.OffsetRequest{i.topic: requests}})
	if err != nil {
		return nil, fmt.Errorf("kafka: offsets of %s: %w", i.topic, err)
	}
	found = map[int]kafkago.PartitionOffsets{}
	for _, o := range res.Topics[i.topic] {
		if o.Error != nil {
			return nil, fmt.Errorf("kafka: offsets of %s/%d: %w", i.topic, o.Partition, o.Error)
		}
		found[o.Partition] = o
	}
	for _, r := range requests {
		if _, ok := found[r.Partition]; !ok {
			return nil, fmt.Errorf("kafka: no offsets of %s/%d in the response", i.topic, r.Partition)
		}
	}
	return found, nil
}

// holds reports whether the log of a partition, which has the span, still has the message before the position. If the message is
// too old to be in the log, or its id is not known, the log is trusted.
func (i *Inspector) holds(ctx context.Context, span Span, at position, id func(Message) string) (bool, error) {
	switch {
	case span.To < at.next:
		return false, nil
	case at.id == "" || span.From >= at.next:
		return true, nil
	}
	m, err := i.Message(ctx, span.Partition, at.next-1)
	if err != nil {
		return false, err
	}
	return id(m) == at.id, nil
}

func (i *Inspector) partitions(ctx context.Context) (ids []int, err error) {
	defer i.startFresh(&err)
	if ids, err = partitionIDs(ctx, i.client, i.topic); err != nil {
		return nil, fmt.Errorf("kafka: partitions of %s: %w", i.topic, err)
	}
	return ids, nil
}

// Committed returns the offsets that a group has committed. Partitions without one are missing.
func (i *Inspector) Committed(ctx context.Context, group string) (map[int]int64, error) {
	ids, err := i.partitions(ctx)
	if err != nil {
		return nil, err
	}
	return i.committed(ctx, group, ids...)
}

// committed returns the offsets that a group has committed for partitions. Those without one are missing.
func (i *Inspector) committed(ctx context.Context, group string, ids ...int) (offsets map[int]int64, err error) {
	defer i.startFresh(&err)
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
	offsets = make(map[int]int64, len(ids))
	for _, p := range res.Topics[i.topic] {
		if p.Error != nil {
			return nil, fmt.Errorf("kafka: offset of group %s in %s/%d: %w", group, i.topic, p.Partition, p.Error)
		}
		if p.CommittedOffset >= 0 {
			offsets[p.Partition] = p.CommittedOffset
		}
	}
	return offsets, nil
}

var errCompacted = errors.New("the log has no message at an offset in the middle")

// Span is a part of a partition, such as what was written within a time span.
type Span struct {
	Partition int
	// From is the first offset, To the one after the last.
	From, To int64
}

// Between returns the part of each partition that begins with the first message not older than from and ends before the first one
// not older than to. Clocks of the writers may differ, so it may have messages of other times.
func (i *Inspector) Between(ctx context.Context, from, to time.Time) ([]Span, error) {
	spans, err := i.Spans(ctx)
	if err != nil {
		return nil, err
	}
	for n, all := range spans {
		if spans[n].From, err = i.offsetAt(ctx, all.Partition, from); err != nil {
			return nil, err
		}
		if spans[n].To, err = i.offsetAt(ctx, all.Partition, to); err != nil {
			return nil, err
		}
		if spans[n].From < 0 {
			spans[n].From = all.To
		}
		if spans[n].To < 0 {
			spans[n].To = all.To
		}
		spans[n].To = max(spans[n].From, spans[n].To)
	}
	return spans, nil
}

// Read passes the messages of a span to a handler, in batches, in the order of their offsets.
func (i *Inspector) Read(ctx context.Context, span Span, handle func(ctx context.Context, msgs []Message) error) error {
	for next := span.From; next < span.To; {
		most := fetchBounds{messages: int(min(maxBatch, span.To-next)), bytes: maxBytes, wait: inspectTimeout}
		msgs, _, err := i.fetch(ctx, span.Partition, next, most)
		if err == nil && len(msgs) == 0 {
			err = ErrNoMessage
		}
		for _, m := range msgs {
			if m.Offset != next {
				err = errCompacted
			}
			next++
		}
		if err != nil {
			return fmt.Errorf("kafka: read %s/%d before offset %d: %w", i.topic, span.Partition, next, err)
		}
		if err := handle(ctx, msgs); err != nil {
			return err
		}
	}
	return nil
}
