//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// atOnce is how many faults are under way at the same time at most.
	atOnce = 3
	// Between two faults at the least, and at random on top.
	leastGap, randomGap = 200 * time.Millisecond, 1300 * time.Millisecond
	// outage is how long Kafka is away once in every run that is long enough, outageIn its part of shorter ones.
	outage   = time.Minute
	outageIn = 4
	// superviseEvery is how often the supervisor looks for instances that have ended.
	superviseEvery = 500 * time.Millisecond
)

// planned is a fault with its time from the start of the run.
type planned struct {
	at time.Duration
	fault
}

// schedule draws the faults of a run: the same seed, time and site give the same ones.
func (s *site) schedule(random *mathrand.Rand, total time.Duration) []planned {
	away := min(outage, total/outageIn)
	awayAt := time.Duration(random.Int64N(int64(total - away)))
	var all []planned
	var hand []card
	for at := time.Duration(0); at < total; at += leastGap + time.Duration(random.Int64N(int64(randomGap))) {
		if awayAt >= 0 && at >= awayAt {
			f := s.restart("outage of ", s.kafka, syscall.SIGKILL, away)
			f.kind, f.long = "outage of Kafka, "+away.String(), true
			all, awayAt = append(all, planned{at: at, fault: f}), -1
		}
		if len(hand) == 0 {
			hand = s.deck()
			random.Shuffle(len(hand), func(i, j int) { hand[i], hand[j] = hand[j], hand[i] })
		}
		all = append(all, planned{at: at, fault: hand[0](random)})
		hand = hand[1:]
	}
	return all
}

func listed(all []planned) string {
	var text strings.Builder
	for _, p := range all {
		_, _ = fmt.Fprintf(&text, "%8s %s\n", p.at.Round(time.Millisecond), p.what) // A builder takes everything.
	}
	return text.String()
}

// injector does to a site what is planned.
type injector struct {
	site  *site
	say   func(format string, args ...any)
	slots chan struct{}

	lock   sync.Mutex
	done   []done
	failed error
	// ended counts instances that ended by themselves and had to be started again.
	ended map[string]int
}

// run returns when all is done, or ctx has ended, and everything is up again.
func (j *injector) run(ctx context.Context, all []planned) {
	supervised, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go j.supervise(supervised)
	var group sync.WaitGroup
	j.slots = make(chan struct{}, atOnce)
	began := time.Now()
	for _, p := range all {
		if pauseFor(ctx, p.at-time.Since(began)); ctx.Err() != nil {
			break
		}
		group.Go(func() { j.inject(ctx, p) })
	}
	group.Wait()
	j.revive(context.WithoutCancel(ctx))
}

// inject waits until nothing else is done to what the fault holds. An outage does not keep the others from their turn.
func (j *injector) inject(ctx context.Context, p planned) {
	for _, held := range p.held {
		held.Lock()
		defer held.Unlock()
	}
	if !p.long {
		j.slots <- struct{}{}
		defer func() { <-j.slots }()
	}
	if ctx.Err() != nil {
		return
	}
	from := time.Now()
	j.say("%s %s", from.Format("15:04:05.000"), p.what)
	// What has begun is ended in order: the site has to be up afterwards.
	err := p.act(context.WithoutCancel(ctx))
	j.lock.Lock()
	defer j.lock.Unlock()
	j.done = append(j.done, done{kind: p.kind, from: from, to: time.Now()})
	if err != nil {
		j.failed = errors.Join(j.failed, fmt.Errorf("%s: %w", p.what, err))
	}
}

// supervise starts instances again that end by themselves, as whatever runs a platform does.
func (j *injector) supervise(ctx context.Context) {
	for ctx.Err() == nil {
		j.revive(ctx)
		pauseFor(ctx, superviseEvery)
	}
}

func (j *injector) revive(ctx context.Context) {
	for _, i := range j.site.instances {
		if !i.busy.TryLock() {
			continue
		}
		if i.ended() && ctx.Err() == nil {
			err := i.start(ctx)
			j.lock.Lock()
			j.ended[i.name]++
			j.failed = errors.Join(j.failed, err)
			j.lock.Unlock()
		}
		i.busy.Unlock()
	}
}
