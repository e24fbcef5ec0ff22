package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Handler does the work for messages of one partition, in the order of their offsets and without a hole between them.
// The offsets are committed after it has returned nil. After an error it is called again with the same messages, for
// as long as it takes: nothing is skipped.
//
// Handlers of different partitions run at the same time. The context ends when the partition is taken away or the
// consumer stops; a handler that goes on regardless may overlap with the new owner of the partition, so its store
// must refuse offsets that it has already seen.
type Handler func(ctx context.Context, partition int, msgs []Message) error

// ConsumerOptions say what to read. Group and Topic are needed, the zero value of every other field is usable.
type ConsumerOptions struct {
	// Group is the name under which offsets are kept. Members of one group
	// share the partitions among them. A new group begins at the oldest message.
	Group string
	Topic string
	// MaxBatch is how many messages a handler gets at most: 500.
	MaxBatch int
	// StallAfter is how long a partition may bring nothing before it is checked
	// whether there would have been something: 10 s.
	StallAfter time.Duration
}

// Consumer reads one topic as a member of a group.
//
// It is built on the library's ConsumerGroup and one Reader per partition, and not on the Reader that does both. So
// it knows its partitions, a slow partition does not hold up the others, commits carry the generation and are refused
// from a member that has lost its partition, and a Reader that is stuck is replaced without disturbing the group.
type Consumer struct {
	cfg      Config
	opts     ConsumerOptions
	handler  Handler
	log      *slog.Logger
	measured *consumerMeasures
	members  members

	// dial opens the connections of the partition readers.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	defaultMaxBatch   = 500
	defaultStallAfter = 10 * time.Second
)

// NewConsumer returns a consumer that does nothing before Run. Its telemetry measures and traces what it handles, and how
// far behind it is.
func NewConsumer(cfg Config, opts ConsumerOptions, tel *telemetry.Telemetry, handler Handler) (*Consumer, error) {
	if opts.MaxBatch <= 0 {
		opts.MaxBatch = defaultMaxBatch
	}
	if opts.StallAfter <= 0 {
		opts.StallAfter = defaultStallAfter
	}
	c := &Consumer{
		cfg:     cfg,
		opts:    opts,
		handler: handler,
		log:     tel.Logger.With("kafka_group", opts.Group, "kafka_topic", opts.Topic),
		dial:    (&net.Dialer{Timeout: dialTimeout}).DialContext,
	}
	return c, c.measure(tel)
}

// Run reads until the context ends and then returns nil, after the running handlers have returned, their offsets are
// committed and the group is left. Failures of Kafka are logged and retried; only a configuration that cannot work
// is an error.
func (c *Consumer) Run(ctx context.Context) error {
	settings := c.groupConfig()
	if err := settings.Validate(); err != nil {
		return fmt.Errorf("kafka: consumer group %q: %w", c.opts.Group, err)
	}
	c.awaitTopic(ctx)
	group, err := kafkago.NewConsumerGroup(settings)
	if err != nil {
		return fmt.Errorf("kafka: consumer group %q: %w", c.opts.Group, err)
	}
	defer func() { _ = group.Close() }()
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafkago.RebalanceInProgress):
			// Members came or went while this one was joining; it joins again.
		case err != nil:
			c.log.WarnContext(ctx, "cannot join the consumer group, trying again", "error", err)
		default:
			generation.Start(func(ended context.Context) { c.consume(ctx, ended, generation) })
		}
	}
}

const (
	// heartbeatEvery is how late this member learns of a rebalance, and the others wait for it meanwhile. The
	// library's 3 s would be the largest part of the pause when a member comes or goes.
	heartbeatEvery = 500 * time.Millisecond
	// sessionTimeout is how long the partitions of a member that died without
	// leaving stay unread. Brokers accept nothing below 6 s by default.
	sessionTimeout = 10 * time.Second
	// rebalanceTimeout is how long the group waits for a member whose handler
	// does not return. After that the member is out and the others go on.
	rebalanceTimeout = 15 * time.Second
	// joinBackoff paces attempts to join after an error. The library's 5 s would add to every restart of a broker.
	joinBackoff = 250 * time.Millisecond
	// partitionWatch is how often a topic that did not exist, or had fewer partitions, is looked up again.
	partitionWatch = 5 * time.Second

	// minBytes of one lets the broker answer a waiting fetch with the first
	// message instead of collecting more. This alone makes delivery prompt.
	minBytes = 1
	// maxBytes is above what one produce request may hold.
	maxBytes = 4 << 20
	// maxWait is how long a fetch waits at the broker when there is nothing. It adds nothing to the latency of a
	// message, since the broker answers at the first byte. It is not small: the library takes a quarter of it as the
	// allowance for the way there and back and gives up the connection when that passes, and every idle partition
	// asks once per maxWait.
	maxWait = time.Second
	// batchReadTimeout bounds the wait for the rest of an answer that has begun.
	batchReadTimeout = 5 * time.Second
	// readBackoff paces a reader after an error. The library's 100 ms minimum would be paid on each connection lost.
	firstReadBackoff   = 10 * time.Millisecond
	longestReadBackoff = time.Second
)

func (c *Consumer) groupConfig() kafkago.ConsumerGroupConfig {
	return kafkago.ConsumerGroupConfig{
		ID:                     c.opts.Group,
		Brokers:                c.cfg.Brokers,
		Topics:                 []string{c.opts.Topic},
		Dialer:                 &kafkago.Dialer{ClientID: c.cfg.ClientID, Timeout: dialTimeout, DualStack: true},
		HeartbeatInterval:      heartbeatEvery,
		SessionTimeout:         sessionTimeout,
		RebalanceTimeout:       rebalanceTimeout,
		JoinGroupBackoff:       joinBackoff,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: partitionWatch,
		// A new group must see what was published before its first member came.
		StartOffset: kafkago.FirstOffset,
		ErrorLogger: c.libraryLog(),
	}
}

func (c *Consumer) readerConfig(partition int, conns *conns) kafkago.ReaderConfig {
	return kafkago.ReaderConfig{
		Brokers:   c.cfg.Brokers,
		Topic:     c.opts.Topic,
		Partition: partition,
		Dialer: &kafkago.Dialer{
			ClientID: c.cfg.ClientID, Timeout: dialTimeout, DialFunc: conns.dial,
		},
		MinBytes:         minBytes,
		MaxBytes:         maxBytes,
		MaxWait:          maxWait,
		ReadBatchTimeout: batchReadTimeout,
		// What is read ahead stays bounded: one batch here, one in the worker.
		QueueCapacity:   c.opts.MaxBatch,
		ReadLagInterval: -1,
		ReadBackoffMin:  firstReadBackoff,
		ReadBackoffMax:  longestReadBackoff,
		ErrorLogger:     conns.unlessClosed(c.libraryLog()),
	}
}

// libraryLog passes on what the library reports as errors. It recovers from
// them by itself, so that they are warnings here. They hold no message content.
func (c *Consumer) libraryLog() kafkago.Logger {
	return kafkago.LoggerFunc(func(format string, args ...any) {
		level := slog.LevelWarn
		if slices.ContainsFunc(args, isTimeout) {
			level = slog.LevelDebug // A fetch that found nothing ends so, again and again.
		}
		c.log.Log(context.Background(), level, "kafka library: "+fmt.Sprintf(format, args...))
	})
}

func isTimeout(arg any) bool {
	err, ok := arg.(error)
	return ok && errors.Is(err, os.ErrDeadlineExceeded)
}

// checkTimeout bounds the question for the offsets of a partition.
const checkTimeout = 5 * time.Second

// stalled reports whether the partition holds messages that its reader should have brought by now, and counts that.
// The library's reader is known to get stuck now and then, for instance on a connection that is open and dead while
// it looks up the leader, where it sets no deadline. The question goes over connections of its own, so that the
// reader's trouble is not shared.
func (p *partition) stalled(ctx context.Context) bool {
	c := p.consumer
	first, end, err := p.offsets(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "cannot find out whether the reader is stuck", "partition", p.id, "error", err)
		}
		return false
	}
	next := p.next
	if next < 0 {
		next = first
	}
	p.progress.fetched(next, end)
	switch {
	case end > next:
		c.measured.restarts()
		c.log.ErrorContext(ctx, "the reader is stuck, starting another one",
			"partition", p.id, "offset", next, "end", end)
		return true
	case end < next:
		// Messages that were acknowledged are gone, or the topic was made anew under the old offsets. Going back by
		// itself would break the rule that handlers fence by offset, so this is for a person to decide.
		c.measured.pastEnd()
		c.log.ErrorContext(ctx, "the partition ends before the committed offset: messages were lost or the topic was replaced",
			"partition", p.id, "offset", next, "end", end)
	}
	return false
}

// offsets asks the partition's leader for its oldest offset and its end.
func (p *partition) offsets(ctx context.Context) (first, end int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	c := p.consumer
	transport := c.cfg.transport(c.opts.Topic)
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: c.cfg.address(), Transport: transport, Timeout: checkTimeout}
	res, err := client.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
		Topics: map[string][]kafkago.OffsetRequest{
			c.opts.Topic: {kafkago.FirstOffsetOf(p.id), kafkago.LastOffsetOf(p.id)},
		},
	})
	if err != nil {
		return 0, 0, err
	}
	for _, o := range res.Topics[c.opts.Topic] {
		if o.Partition == p.id {
			return o.FirstOffset, o.LastOffset, o.Error
		}
	}
	return 0, 0, fmt.Errorf("no offsets of %s/%d in the answer", c.opts.Topic, p.id)
}
