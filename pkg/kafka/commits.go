package kafka

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

const (
	// commitEvery is the shortest time between two commits. Commits run concurrently with the handlers and never delay the next
	// batch. They are rare, because a broker takes longer for a commit than for a batch of messages, and partitions are read from
	// the stored offsets. A generation that ends normally commits once more after the handlers.
	commitEvery = 2 * time.Second
	// flushTimeout bounds how long a commit waits until what was stored is durable.
	flushTimeout = 5 * time.Second
)

// commits takes the offsets that workers have finished and commits the newest of each partition.
type commits struct {
	topic  string
	commit func(map[string]map[int]int64) error
	// durable returns when what the handlers have stored survives a crash of their store.
	durable func(ctx context.Context) error
	log     *slog.Logger

	lock sync.Mutex
	// pending holds the next offset to read of each partition with uncommitted progress.
	pending map[int]int64
	wake    chan struct{}
}

func newCommits(
	topic string, commit func(map[string]map[int]int64) error, durable func(ctx context.Context) error, log *slog.Logger,
) *commits {
	return &commits{
		topic: topic, commit: commit, durable: durable, log: log,
		pending: map[int]int64{}, wake: make(chan struct{}, 1),
	}
}

// handled notes that everything before next is done.
func (c *commits) handled(partition int, next int64) {
	c.lock.Lock()
	c.pending[partition] = next
	c.lock.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run commits until stop is closed and then once more.
func (c *commits) run(stop <-chan struct{}) {
	for {
		select {
		case <-c.wake:
			c.flush()
		case <-stop:
			c.flush()
			return
		}
		select {
		case <-time.After(commitEvery):
		case <-stop:
		}
	}
}

// flush commits what is pending. Offsets that could not be committed stay pending unless newer ones have replaced them.
func (c *commits) flush() {
	c.lock.Lock()
	taken := c.pending
	c.pending = map[int]int64{}
	c.lock.Unlock()
	if len(taken) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	err := c.durable(ctx)
	if err == nil {
		err = c.commit(map[string]map[int]int64{c.topic: taken})
	}
	if err == nil {
		return
	}
	c.log.Warn("cannot commit offsets", "error", err)
	c.lock.Lock()
	defer c.lock.Unlock()
	maps.Copy(taken, c.pending)
	c.pending = taken
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// consume reads the partitions of one generation until it ends or the consumer stops. Before it returns, every handler has
// returned and their progress is committed, so the group hands over only idle partitions.
func (c *Consumer) consume(run, ended context.Context, generation *kafkago.Generation) {
	ctx, cancel := context.WithCancel(run)
	defer cancel()
	go func() {
		select {
		case <-ended.Done():
			cancel()
		case <-ctx.Done():
		}
	}()

	assigned := generation.Assignments[c.opts.Topic]
	c.log.InfoContext(ctx, "partitions assigned", "generation", generation.ID, "partitions", len(assigned))
	commits := newCommits(c.opts.Topic, generation.CommitOffsets, c.opts.Offsets.Durable, c.log)
	c.awaitPartitions(ctx, len(assigned))

	var partitions, committer sync.WaitGroup
	has := make(map[int]*progress, len(assigned))
	for _, a := range assigned {
		p := newPartition(c, a, commits)
		has[p.id] = p.progress
		partitions.Go(func() { p.run(ctx) })
	}
	c.members.set(has)
	defer c.members.set(nil)
	stop := make(chan struct{})
	committer.Go(func() { commits.run(stop) })

	// Without partitions too, the member stays: it may get some in the next generation.
	<-ctx.Done()
	partitions.Wait()
	close(stop)
	committer.Wait()

	// Returning before the group ends the generation would make the library join once more, only to leave.
	<-ended.Done()
}
