package kafka

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// Handler does the work for messages of one partition, in the order of their offsets and without gaps, and stores the offset
// after them with its result. After an error it is called again with the same messages until it succeeds: nothing is skipped.
// After ErrBeyondStored the partition is read again from the stored offset.
//
// Handlers of different partitions run concurrently. The context ends when the consumer loses the partition's lease or stops; a
// handler that continues may overlap with the partition's new reader, so its store must refuse offsets that it has already seen.
type Handler func(ctx context.Context, partition int, msgs []Message) error

// ConsumerOptions say what to read. Group, Topic, Offsets and ID are needed, the zero value of every other field is usable.
type ConsumerOptions struct {
	// Group is the name under which the stored offsets are committed in Kafka too, to be seen from outside.
	Group string
	Topic string
	// Offsets say where each partition is read from.
	Offsets Offsets
	// Leases divide the partitions among the instances of a service; without them a consumer reads all.
	Leases Leases
	// ID returns the id by which duplicates of a message are recognized, or nothing for a message that has none.
	ID func(m Message) string
	// CheckPartitions, if set, is called with the number of partitions of the topic before any is read. Its error is reported and
	// nothing is read until it returns none.
	CheckPartitions func(ctx context.Context, count int) error
	// FetchTimeout is how long a fetch may take before its connection is given up; 0 means 10 s. The broker waits for half of it for
	// a message.
	FetchTimeout time.Duration
}

// Leases divide the partitions among consumers.
type Leases interface {
	// Run reads each of the partitions 0…count-1 while this consumer has its lease, until ctx ends. The context of read ends before
	// another consumer gets the lease, or soon after it was lost.
	Run(ctx context.Context, count int, read func(ctx context.Context, partition int))
}

// allPartitions are the leases of a consumer that reads alone.
type allPartitions struct{}

func (allPartitions) Run(ctx context.Context, count int, read func(ctx context.Context, partition int)) {
	var reading sync.WaitGroup
	for id := range count {
		reading.Go(func() { read(ctx, id) })
	}
	reading.Wait()
}

// Consumer reads the partitions of a topic that are leased to it.
//
// It uses neither the library's Reader nor its ConsumerGroup. So a slow partition does not delay the others, each fetch has a
// time-out, and when an instance comes or goes only the partitions stop that move, for less than a second.
type Consumer struct {
	cluster  *cluster
	opts     ConsumerOptions
	handler  Handler
	log      *slog.Logger
	measured *consumerMeasures
	commits  *commits
	reading  readPartitions
	// refused is how many partitions are not read because their number has changed.
	refused atomic.Int64

	// checks finds out what the log has and commits offsets, over other connections than those that fetch.
	checks *Inspector
	// dial opens the connections that fetch.
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

const (
	// maxBatch is how many messages a handler gets at most.
	maxBatch            = 500
	defaultFetchTimeout = 10 * time.Second
	// After idleFetchTimeouts times FetchTimeout without a message, the reader of a partition checks whether the store went back to
	// an earlier state.
	idleFetchTimeouts = 3
	// maxBytes is larger than any produce request.
	maxBytes = 4 << 20
	// The pause after a fetch that failed.
	firstFetchBackoff   = 10 * time.Millisecond
	longestFetchBackoff = time.Second
)

// NewConsumer returns a consumer that does nothing before Run. Its telemetry measures and traces what it handles, and how
// far behind it is.
func NewConsumer(cfg Config, opts ConsumerOptions, tel *telemetry.Telemetry, handler Handler) (*Consumer, error) {
	if opts.FetchTimeout <= 0 {
		opts.FetchTimeout = defaultFetchTimeout
	}
	if opts.Leases == nil {
		opts.Leases = allPartitions{}
	}
	cluster, err := newCluster(cfg, tel)
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
	commit := func(ctx context.Context, offsets map[int]int64) error {
		return c.checks.commit(ctx, opts.Group, offsets)
	}
	c.commits = newCommits(commit, opts.Offsets, c.log)
	return c, c.measure(tel)
}

// Run reads until the context ends. It then waits for the running handlers, commits their offsets and returns nil. Failures are
// logged and retried.
func (c *Consumer) Run(ctx context.Context) error {
	defer c.checks.Close()
	var committing sync.WaitGroup
	committing.Go(func() { c.commits.run(ctx) })
	defer committing.Wait()
	for ctx.Err() == nil {
		if count, ok := c.awaitTopic(ctx); ok {
			c.readTopic(ctx, count)
		}
	}
	return nil
}

// readTopic reads until the topic is gone or has another number of partitions, or ctx ends.
func (c *Consumer) readTopic(ctx context.Context, count int) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		defer cancel()
		c.awaitOtherTopic(ctx, count)
	})
	c.opts.Leases.Run(ctx, count, c.read)
	cancel()
	watching.Wait()
}

// read reads a partition until the context ends. Before it returns, the handler has returned and its progress is committed.
func (c *Consumer) read(ctx context.Context, id int) {
	p := newPartition(c, id)
	c.reading.add(id, p.progress)
	defer c.reading.remove(id)
	p.run(ctx)
	c.commits.release(ctx, id)
}
