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
	// maxConcurrent bounds the number of active faults.
	maxConcurrent = 3
	// The gap between two faults is minGap and a random part of randomGap.
	minGap, randomGap = 200 * time.Millisecond, 1300 * time.Millisecond
	// outage is how long Kafka is down once in a run, or the outageShare-th part of a short run.
	outage      = time.Minute
	outageShare = 4
)

// scheduled is a fault with its time from the start of the run.
type scheduled struct {
	at time.Duration
	fault
}

// schedule draws the faults of a run: the same seed, time and deployment give the same ones.
func (d *deployment) schedule(random *mathrand.Rand, total time.Duration) []scheduled {
	down := min(outage, total/outageShare)
	outageAt := time.Duration(random.Int64N(int64(total - down)))
	var all []scheduled
	var remaining []draw
	for at := time.Duration(0); at < total; at += minGap + time.Duration(random.Int64N(int64(randomGap))) {
		if outageAt >= 0 && at >= outageAt {
			f := d.restart("outage of ", d.kafka, syscall.SIGKILL, down)
			f.kind, f.long = "outage of Kafka, "+down.String(), true
			all, outageAt = append(all, scheduled{at: at, fault: f}), -1
		}
		if len(remaining) == 0 {
			remaining = d.faultKinds()
			random.Shuffle(len(remaining), func(i, j int) { remaining[i], remaining[j] = remaining[j], remaining[i] })
		}
		all = append(all, scheduled{at: at, fault: remaining[0](random)})
		remaining = remaining[1:]
	}
	return all
}

func formatSchedule(all []scheduled) string {
	var text strings.Builder
	for _, s := range all {
		_, _ = fmt.Fprintf(&text, "%8s %s\n", s.at.Round(time.Millisecond), s.description) // A builder never fails.
	}
	return text.String()
}

// injector injects scheduled faults into a deployment.
type injector struct {
	deployment *deployment
	printf     func(format string, args ...any)
	slots      chan struct{}

	lock     sync.Mutex
	injected []injected
	err      error
	// restarts counts restarts of instances that ended without being killed.
	restarts map[string]int
}

// run returns when all faults are over, or ctx has ended, and everything is up again.
func (j *injector) run(ctx context.Context, all []scheduled) {
	supervised, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go j.supervise(supervised)
	var group sync.WaitGroup
	j.slots = make(chan struct{}, maxConcurrent)
	began := time.Now()
	for _, s := range all {
		if sleep(ctx, s.at-time.Since(began)); ctx.Err() != nil {
			break
		}
		group.Go(func() { j.inject(ctx, s) })
	}
	group.Wait()
	j.restartEnded(context.WithoutCancel(ctx))
}

// inject waits until no other fault uses the same parts. A long fault takes no slot, so other faults continue.
func (j *injector) inject(ctx context.Context, s scheduled) {
	for _, busy := range s.busy {
		busy.Lock()
		defer busy.Unlock()
	}
	if !s.long {
		j.slots <- struct{}{}
		defer func() { <-j.slots }()
	}
	if ctx.Err() != nil {
		return
	}
	from := time.Now()
	j.printf("%s %s", from.Format("15:04:05.000"), s.description)
	// A fault that has begun always ends properly, so that everything is up afterwards.
	err := s.inject(context.WithoutCancel(ctx))
	j.lock.Lock()
	defer j.lock.Unlock()
	j.injected = append(j.injected, injected{kind: s.kind, from: from, to: time.Now()})
	if err != nil {
		j.err = errors.Join(j.err, fmt.Errorf("%s: %w", s.description, err))
	}
}

// supervise restarts instances that have ended without being killed, as Kubernetes would.
func (j *injector) supervise(ctx context.Context) {
	for ctx.Err() == nil {
		j.restartEnded(ctx)
		sleep(ctx, 500*time.Millisecond)
	}
}

func (j *injector) restartEnded(ctx context.Context) {
	for _, i := range j.deployment.instances {
		if !i.busy.TryLock() {
			continue
		}
		if i.hasExited() && ctx.Err() == nil {
			err := i.start(ctx)
			j.lock.Lock()
			j.restarts[i.name]++
			j.err = errors.Join(j.err, err)
			j.lock.Unlock()
		}
		i.busy.Unlock()
	}
}
