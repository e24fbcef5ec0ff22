package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

const (
	// commitInterval is the shortest time between two commits. Commits run concurrently with the handlers and never delay the next
	// batch. They are rare, because a broker takes longer for a commit than for a batch of messages, and partitions are read from
	// the stored offsets. A partition that is released is committed once more.
	commitInterval = 2 * time.Second
	// recommitInterval is how often unchanged offsets are committed again. Brokers forget an offset some days after its commit, and an
	// instance that was paused may have committed an old one when it had lost its lease.
	recommitInterval = time.Minute
	// flushTimeout bounds how long a commit waits until what was stored is durable.
	flushTimeout = 5 * time.Second
)

// commits commits in Kafka how far the partitions of this consumer are stored.
type commits struct {
	commit func(ctx context.Context, offsets map[int]int64) error
	// store reports when what the handlers have stored survives a crash.
	store Offsets
	log   *slog.Logger

	// flushing is locked during a commit, lock only while the maps are used.
	flushing, lock sync.Mutex
	// stored has the offset after the last handled message of each partition, committed what Kafka is known to have of it.
	stored, committed map[int]int64
	// failedAt is when the last commit failed; zero if it did not.
	failedAt time.Time
	wake     chan struct{}
}

func newCommits(commit func(ctx context.Context, offsets map[int]int64) error, store Offsets, log *slog.Logger) *commits {
	return &commits{
		commit: commit, store: store, log: log,
		stored: map[int]int64{}, committed: map[int]int64{}, wake: make(chan struct{}, 1),
	}
}

// found notes what Kafka has of a partition that this consumer begins to read.
func (c *commits) found(partition int, offset int64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.committed[partition] = offset
}

// handled notes that everything before next is done.
func (c *commits) handled(partition int, next int64) {
	c.lock.Lock()
	c.stored[partition] = next
	c.lock.Unlock()
	c.wakeUp()
}

func (c *commits) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// release commits the offset of a partition for the last time. Afterwards only its next reader commits it. While commits fail, only
// the first of the partitions that are released waits for one.
func (c *commits) release(ctx context.Context, partition int) {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	if time.Since(c.failedAt) > flushTimeout {
		c.flush(ctx)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.stored, partition)
	delete(c.committed, partition)
}

// run commits until ctx ends.
func (c *commits) run(ctx context.Context) {
	recommit := time.NewTicker(recommitInterval)
	defer recommit.Stop()
	for {
		select {
		case <-c.wake:
		case <-recommit.C:
			c.lock.Lock()
			clear(c.committed)
			c.lock.Unlock()
		case <-ctx.Done():
			return
		}
		c.flushing.Lock()
		c.flush(ctx)
		c.flushing.Unlock()
		wait(ctx, commitInterval)
	}
}

// flush commits the offsets that Kafka does not have yet. If it fails, run tries again.
func (c *commits) flush(ctx context.Context) {
	pending := c.pending()
	if len(pending) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	err := c.store.Durable(ctx)
	if err == nil {
		err = c.commit(ctx, pending)
	}
	if err != nil {
		c.log.WarnContext(ctx, "cannot commit offsets", "error", err)
		c.failedAt = time.Now()
		c.wakeUp()
		return
	}
	c.failedAt = time.Time{}
	c.lock.Lock()
	defer c.lock.Unlock()
	for partition, offset := range pending {
		c.committed[partition] = offset
	}
}

func (c *commits) pending() map[int]int64 {
	c.lock.Lock()
	defer c.lock.Unlock()
	pending := map[int]int64{}
	for partition, offset := range c.stored {
		if committed, known := c.committed[partition]; !known || committed != offset {
			pending[partition] = offset
		}
	}
	return pending
}

// commit commits offsets of a group that has no members in Kafka.
func (i *Inspector) commit(ctx context.Context, group string, offsets map[int]int64) (err error) {
	defer i.startFresh(&err)
	var commits []kafkago.OffsetCommit
	for partition, offset := range offsets {
		commits = append(commits, kafkago.OffsetCommit{Partition: partition, Offset: offset})
	}
	res, err := i.client.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
		GroupID: group, GenerationID: noGeneration, Topics: map[string][]kafkago.OffsetCommit{i.topic: commits},
	})
	if err != nil {
		return fmt.Errorf("kafka: commit offsets of group %s: %w", group, err)
	}
	for _, p := range res.Topics[i.topic] {
		if p.Error != nil {
			return fmt.Errorf("kafka: commit offset of group %s in %s/%d: %w", group, i.topic, p.Partition, p.Error)
		}
	}
	return nil
}

// noGeneration is the generation of a commit that comes from no member of the group.
const noGeneration = -1
