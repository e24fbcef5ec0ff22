package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

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
