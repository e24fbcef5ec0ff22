package kafka

import (
	"log/slog"
	"maps"
	"sync"
	"time"
)

// commitEvery is the shortest time between two commits. Commits run beside the handlers and never hold up the next
// batch. A crash repeats at most what was handled in this time and the last commit's; when a generation ends in an
// orderly way nothing is repeated, as its last commit comes after the handlers.
const commitEvery = 50 * time.Millisecond

// commits takes the offsets that workers have finished and commits the newest of each partition.
type commits struct {
	topic  string
	commit func(map[string]map[int]int64) error
	log    *slog.Logger

	lock sync.Mutex
	// pending holds the next offset to read of each partition with news.
	pending map[int]int64
	wake    chan struct{}
}

func newCommits(topic string, commit func(map[string]map[int]int64) error, log *slog.Logger) *commits {
	return &commits{
		topic: topic, commit: commit, log: log,
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

// flush commits what is pending. What could not be committed stays pending,
// unless the partition has moved on in the meantime.
func (c *commits) flush() {
	c.lock.Lock()
	taken := c.pending
	c.pending = map[int]int64{}
	c.lock.Unlock()
	if len(taken) == 0 {
		return
	}
	err := c.commit(map[string]map[int]int64{c.topic: taken})
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
