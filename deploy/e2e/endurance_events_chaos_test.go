//go:build faults

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/partnergifting/platform/deploy/local/deps"
)

// chaos does things to a site that it must bear. At most atOnce of them are under way at the same time, and one with each
// process.
type chaos struct {
	site   *site
	random *mathrand.Rand
	// Each is held by the one thing that is being done to the server.
	kafka, postgres, redis sync.Mutex

	lock   sync.Mutex
	counts map[string]int
	failed error
}

const atOnce = 3

// run returns when ctx has ended and everything is up again.
func (c *chaos) run(ctx context.Context, say func(format string, args ...any)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	began := time.Now()
	for ctx.Err() == nil {
		pauseFor(ctx, 200*time.Millisecond+time.Duration(c.random.Int64N(int64(1500*time.Millisecond))))
		name, act := c.next()
		select {
		case <-ctx.Done():
			continue
		case slots <- struct{}{}:
		}
		say("%7s %s", time.Since(began).Round(time.Millisecond), name)
		group.Go(func() {
			defer func() { <-slots }()
			// What has begun is ended in order: the site has to be up afterwards.
			c.note(strings.SplitN(name, " for ", 2)[0], act(context.WithoutCancel(ctx)))
		})
	}
	group.Wait()
}

func (c *chaos) note(name string, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if errors.Is(err, errBusy) {
		return
	}
	c.counts[name]++
	if err != nil {
		c.failed = errors.Join(c.failed, fmt.Errorf("%s: %w", name, err))
	}
}

var errBusy = errors.New("something is being done to it")

// next draws what is done. All draws are made here, so that the seed repeats the sequence.
func (c *chaos) next() (name string, act func(ctx context.Context) error) {
	down := time.Duration(c.random.Int64N(int64(2 * time.Second)))
	long := c.random.IntN(5) == 0
	kind, victim := c.random.IntN(100), c.site.members[c.random.IntN(len(c.site.members))]
	if victim.name != "events" && victim.name != "events-2" && c.random.IntN(3) == 0 {
		victim = c.site.member([]string{"events", "events-2", "webhook", "webhook-2"}[c.random.IntN(4)])
	}
	switch {
	case kind < 50:
		return "kill " + victim.name + " for " + down.String(), func(ctx context.Context) error { return c.kill(ctx, victim, down) }
	case kind < 80:
		if long {
			// Longer than the lease of the leader, of a delivery's attempt, and of a Kafka consumer's session.
			down += 12 * time.Second
		}
		return "pause " + victim.name + " for " + down.String(), func(ctx context.Context) error { return c.pause(ctx, victim, down) }
	case kind < 87:
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[c.random.IntN(2)]
		return fmt.Sprintf("Kafka %s for %s", signal, down), func(ctx context.Context) error { return c.stopKafka(ctx, signal, down) }
	case kind < 91:
		return "Kafka stopped for " + down.String(), func(ctx context.Context) error { return c.pauseKafka(ctx, down) }
	case kind < 97:
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT}[c.random.IntN(2)]
		return fmt.Sprintf("PostgreSQL %s for %s", signal, down), func(ctx context.Context) error { return c.stopPostgres(ctx, signal, down) }
	default:
		return "Redis killed for " + down.String(), func(ctx context.Context) error { return c.stopRedis(ctx, down) }
	}
}

func (c *chaos) kill(ctx context.Context, m *member, down time.Duration) error {
	if !m.busy.TryLock() {
		return errBusy
	}
	defer m.busy.Unlock()
	m.end()
	pauseFor(ctx, down)
	return m.start(ctx)
}

func (c *chaos) pause(ctx context.Context, m *member, down time.Duration) error {
	if !m.busy.TryLock() {
		return errBusy
	}
	defer m.busy.Unlock()
	if err := m.signal(syscall.SIGSTOP); err != nil {
		return m.start(ctx) // It had ended because a server was down.
	}
	pauseFor(ctx, down)
	return m.signal(syscall.SIGCONT)
}

// revive starts members again that ended because a server was down.
func (c *chaos) revive(ctx context.Context) error {
	var failures error
	for _, m := range c.site.members {
		select {
		case <-m.exited:
			c.counts["ended by itself "+m.name]++
			failures = errors.Join(failures, m.start(ctx))
		default:
		}
	}
	return failures
}

func (c *chaos) stopKafka(ctx context.Context, signal syscall.Signal, down time.Duration) error {
	if !c.kafka.TryLock() {
		return errBusy
	}
	defer c.kafka.Unlock()
	s := c.site
	if err := crash(ctx, s.kafka, signal); err != nil {
		return err
	}
	pauseFor(ctx, down)
	started, err := deps.StartKafka(ctx, s.servers.kafka)
	if err == nil {
		s.kafka = started
	}
	return err
}

func (c *chaos) pauseKafka(ctx context.Context, down time.Duration) error {
	if !c.kafka.TryLock() {
		return errBusy
	}
	defer c.kafka.Unlock()
	kafka := c.site.kafka
	err := kafka.Signal(syscall.SIGSTOP)
	pauseFor(ctx, down)
	return errors.Join(err, kafka.Signal(syscall.SIGCONT))
}

func (c *chaos) stopPostgres(ctx context.Context, signal syscall.Signal, down time.Duration) error {
	if !c.postgres.TryLock() {
		return errBusy
	}
	defer c.postgres.Unlock()
	s := c.site
	if err := crash(ctx, s.postgres, signal); err != nil {
		return err
	}
	pauseFor(ctx, down)
	started, err := deps.StartPostgreSQL(ctx, s.servers.postgres)
	if err == nil {
		s.postgres = started
	}
	return err
}

func (c *chaos) stopRedis(ctx context.Context, down time.Duration) error {
	if !c.redis.TryLock() {
		return errBusy
	}
	defer c.redis.Unlock()
	s := c.site
	if err := crash(ctx, s.redis, syscall.SIGKILL); err != nil {
		return err
	}
	pauseFor(ctx, down)
	started, err := deps.StartRedis(ctx, s.servers.redis)
	if err == nil {
		s.redis = started
	}
	return err
}

// crash signals a server, waits until it is gone and gives its folder free.
func crash(ctx context.Context, server *deps.Instance, signal syscall.Signal) error {
	if err := server.Signal(signal); err != nil {
		return err
	}
	<-server.Exited()
	return server.Stop(ctx)
}
