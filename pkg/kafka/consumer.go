package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Handler does the work for messages of one partition, in the order of their offsets and without gaps, and stores the offset
// after them with its result. After an error it is called again with the same messages until it succeeds: nothing is skipped.
// After ErrBeyondStored the partition is read again from the stored offset.
//
// Handlers of different partitions run concurrently. The context ends when the partition is taken away or the consumer stops; a
// handler that continues may overlap with the partition's new owner, so its store must refuse offsets that it has already seen.
type Handler func(ctx context.Context, partition int, msgs []Message) error

// ConsumerOptions say what to read. Group, Topic, Offsets and ID are needed, the zero value of every other field is usable.
type ConsumerOptions struct {
	// Group is the name of the members that share the partitions among them.
	Group string
	Topic string
	// Offsets say where each partition is read from. The group's offsets in Kafka are committed too, but only to be seen from
	// outside.
	Offsets Offsets
	// ID returns the id by which duplicates of a message are recognized, or nothing for a message that has none.
	ID func(m Message) string
	// CheckPartitions, if set, is called with the number of partitions of the topic before any is read. Its error is reported and
	// nothing is read until it returns none.
	CheckPartitions func(ctx context.Context, count int) error
	// FetchTimeout is how long a fetch may take before its connection is given up; 0 means 10 s. The broker waits for half of it for
	// a message.
	FetchTimeout time.Duration
}

// Consumer reads one topic as a member of a group.
//
// It is built on the library's ConsumerGroup and fetches each partition itself, unlike the library's Reader. So a slow partition
// does not delay the others, each fetch has a time-out, and the broker refuses commits of a member that has lost its partition.
type Consumer struct {
	cluster  *cluster
	opts     ConsumerOptions
	handler  Handler
	log      *slog.Logger
	measured *consumerMeasures
	members  members
	// refused is how many assigned partitions are not read because the topic has another number of partitions.
	refused atomic.Int64

	// checks finds out what the log has, over other connections than those that fetch.
	checks *Inspector
	// dial opens the connections that fetch.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	// maxBatch is how many messages a handler gets at most.
	maxBatch            = 500
	defaultFetchTimeout = 10 * time.Second
	// askStore is after how many times FetchTimeout without a message the store is asked whether it went back to an earlier state.
	askStore = 3
)

// NewConsumer returns a consumer that does nothing before Run. Its telemetry measures and traces what it handles, and how
// far behind it is.
func NewConsumer(cfg Config, opts ConsumerOptions, tel *telemetry.Telemetry, handler Handler) (*Consumer, error) {
	if opts.FetchTimeout <= 0 {
		opts.FetchTimeout = defaultFetchTimeout
	}
	cluster, err := open(cfg, tel)
	if err != nil {
		return nil, err
	}
	if !cfg.TLS.Enabled && !cfg.onLoopback() {
		tel.Logger.Warn("connections to Kafka are in plain text: its network must be private")
	}
	c := &Consumer{
		cluster: cluster,
		opts:    opts,
		handler: handler,
		log:     tel.Logger.With("kafka_group", opts.Group, "kafka_topic", opts.Topic),
		checks:  cluster.inspector(opts.Topic),
		dial:    cluster.dial,
	}
	c.checks.transport.MetadataTTL = opts.FetchTimeout
	return c, c.measure(tel)
}

// Run reads until the context ends. It then waits for the running handlers, commits their offsets, leaves the group and returns
// nil. Failures of Kafka are logged and retried; only an invalid configuration is an error.
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
	defer c.checks.Close()
	for {
		generation, err := group.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafkago.RebalanceInProgress):
			// Members joined or left while this one was joining; it joins again.
		case err != nil:
			c.log.WarnContext(ctx, "cannot join the consumer group, trying again", "error", err)
		default:
			if len(generation.Assignments[c.opts.Topic]) == 0 {
				c.awaitTopic(ctx) // It may have been deleted. The library waits with the next generation until this one is taken.
			}
			generation.Start(func(ended context.Context) { c.consume(ctx, ended, generation) })
		}
	}
}

const (
	// heartbeatEvery is how late this member may learn of a rebalance, while the others wait. The library's 3 s would be the
	// largest part of the pause when a member joins or leaves.
	heartbeatEvery = 500 * time.Millisecond
	// sessionTimeout is how long the partitions of a crashed member stay unread. Brokers accept nothing below 6 s by default.
	sessionTimeout = 10 * time.Second
	// rebalanceTimeout is how long the group waits for a member whose handler does not return. After that the group continues
	// without it.
	rebalanceTimeout = 15 * time.Second
	// joinBackoff paces attempts to join after an error. The library's 5 s would add to every restart of a broker.
	joinBackoff = 250 * time.Millisecond
	// partitionWatch is how often a topic that did not exist, or had fewer partitions, is looked up again.
	partitionWatch = 5 * time.Second

	// maxBytes is larger than any produce request.
	maxBytes = 4 << 20
	// fetchBackoff paces a partition after a fetch that failed.
	firstFetchBackoff   = 10 * time.Millisecond
	longestFetchBackoff = time.Second
)

func (c *Consumer) groupConfig() kafkago.ConsumerGroupConfig {
	return kafkago.ConsumerGroupConfig{
		ID:                     c.opts.Group,
		Brokers:                c.cluster.Brokers,
		Topics:                 []string{c.opts.Topic},
		Dialer:                 &kafkago.Dialer{ClientID: c.cluster.ClientID, Timeout: dialTimeout, DialFunc: c.cluster.dial},
		HeartbeatInterval:      heartbeatEvery,
		SessionTimeout:         sessionTimeout,
		RebalanceTimeout:       rebalanceTimeout,
		JoinGroupBackoff:       joinBackoff,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: partitionWatch,
		// A new group must see what was published before its first member joined.
		StartOffset: kafkago.FirstOffset,
		ErrorLogger: c.libraryLog(),
	}
}

// libraryLog logs the library's errors as warnings, because the library recovers from them. They hold no message content.
func (c *Consumer) libraryLog() kafkago.Logger {
	return kafkago.LoggerFunc(func(format string, args ...any) {
		c.log.Warn("kafka library: " + fmt.Sprintf(format, args...))
	})
}
