package kafka

import (
	"context"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// checkTimeout bounds a check of the log of a partition.
const checkTimeout = 5 * time.Second

// partitionClient asks the leader of a partition about its log. It does not use the connections of a reader, so their problems do
// not affect it.
type partitionClient struct {
	client    *kafkago.Client
	transport *kafkago.Transport
	topic     string
	partition int
	id        func(Message) string
}

func (p *partition) client() *partitionClient {
	c := p.consumer
	return c.cluster.partitionClient(c.opts.Topic, p.id, c.opts.ID)
}

func (c *cluster) partitionClient(topic string, partition int, id func(Message) string) *partitionClient {
	return c.partitionClientOver(c.transport(topic), topic, partition, id)
}

// partitionClientOver makes a client that shares its connections with others.
func (c *cluster) partitionClientOver(
	transport *kafkago.Transport, topic string, partition int, id func(Message) string,
) *partitionClient {
	return &partitionClient{
		client:    &kafkago.Client{Addr: c.address(), Transport: transport, Timeout: checkTimeout},
		transport: transport, topic: topic, partition: partition, id: id,
	}
}

func (c *partitionClient) close() { c.transport.CloseIdleConnections() }

// offsets returns the oldest offset and the end offset.
func (c *partitionClient) offsets(ctx context.Context) (first, end int64, err error) {
	o, err := c.list(ctx, kafkago.FirstOffsetOf(c.partition), kafkago.LastOffsetOf(c.partition))
	return o.FirstOffset, o.LastOffset, err
}

// offsetAt returns the offset of the first message that is not older than a time, or a negative one if all are.
func (c *partitionClient) offsetAt(ctx context.Context, at time.Time) (int64, error) {
	o, err := c.list(ctx, kafkago.TimeOffsetOf(c.partition, at))
	for offset := range o.Offsets {
		return offset, err
	}
	return -1, err
}

func (c *partitionClient) list(ctx context.Context, asked ...kafkago.OffsetRequest) (kafkago.PartitionOffsets, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	res, err := c.client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{c.topic: asked},
	})
	if err != nil {
		return kafkago.PartitionOffsets{}, err
	}
	for _, o := range res.Topics[c.topic] {
		if o.Partition == c.partition {
			return o, o.Error
		}
	}
	return kafkago.PartitionOffsets{}, fmt.Errorf("no offsets of %s/%d in the response", c.topic, c.partition)
}

// holds reports whether the log, which begins and ends at these offsets, still has the message before the position. If the
// message is too old to be in the log, or its id is not known, the log is trusted.
func (c *partitionClient) holds(ctx context.Context, at position, first, end int64) (bool, error) {
	switch {
	case end < at.next:
		return false, nil
	case at.id == "" || first >= at.next:
		return true, nil
	}
	m, err := c.fetch(ctx, at.next-1)
	if err != nil {
		return false, err
	}
	return c.id(m) == at.id, nil
}

// fetch returns the message at an offset.
func (c *partitionClient) fetch(ctx context.Context, offset int64) (Message, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	// However small the limit is, the broker sends the first batch whole.
	res, err := c.client.Fetch(ctx, &kafkago.FetchRequest{
		Topic: c.topic, Partition: c.partition, Offset: offset, MinBytes: 1, MaxBytes: 1, MaxWait: checkTimeout / 2, //nolint:mnd // It exists, so nothing waits.
	})
	if err == nil {
		err = res.Error
	}
	if err != nil {
		return Message{}, fmt.Errorf("fetch offset %d of %s/%d: %w", offset, c.topic, c.partition, err)
	}
	return messageAt(res.Records, c.partition, offset)
}
